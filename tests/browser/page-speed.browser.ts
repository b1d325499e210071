import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import type { Page } from "playwright-core";
import { openPage } from "./test-support/open-page.ts";

type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node: Node | null }[] };
type Seen = { shift: number; moved: string[]; largestPaint: number };

/** Adds up how far things moved without being asked to, and notes when the largest one was painted. */
const watchPaints = (page: Page) =>
  page.addInitScript(() => {
    const seen: Seen = { shift: 0, moved: [], largestPaint: 0 };
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        if (hadRecentInput) continue;
        seen.shift += value;
        seen.moved.push(...sources.map(({ node }) => (node as Element | null)?.className ?? "text"));
      }
    }).observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) seen.largestPaint = startTime;
    }).observe({ type: "largest-contentful-paint", buffered: true });
  });
const seenBy = (page: Page) => page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);

describe("the page's speed", () => {
  for (const width of [390, 1280]) {
    test(`nothing moves by itself, at ${width} pixels, while it loads, is scrolled and shows further ranks`, (context) =>
      openPage(
        "/?region=GB",
        async ({ page }) => {
          await page.locator("trendvault-list img").first().waitFor();
          // Further ranks are asked for before the end is on screen; who gets there sooner sees the foot move down.
          for (const [near, last] of [
            [20, 48],
            [44, 60],
          ]) {
            await page.locator(`trendvault-list li[data-rank="${near}"]`).scrollIntoViewIfNeeded();
            await page.locator(`trendvault-list li[data-rank="${last}"]`).waitFor();
          }
          await page.locator("#foot").scrollIntoViewIfNeeded();
          await page.evaluate(() => scrollTo(0, 0));
          const { shift, moved, largestPaint } = await seenBy(page);
          context.diagnostic(
            `${width} pixels: layout shift ${shift.toFixed(4)}, largest paint after ${largestPaint.toFixed()} ms`,
          );
          assert.ok(shift < 0.01, `moved by ${shift}: ${moved}`);
        },
        { viewport: { width, height: 844 }, prepare: watchPaints },
      ));
  }

  test("its scripts and styles are at most 25 KB, compressed as Cloudflare does, and the list is in the HTML", (context) => {
    const bodies: { path: string; type: string; bytes: number }[] = [];
    return openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.waitForLoadState("networkidle");
        const total = (types: readonly string[]) =>
          bodies.filter(({ type }) => types.includes(type)).reduce((sum, { bytes }) => sum + bytes, 0);
        const code = total(["script", "stylesheet"]);
        context.diagnostic(
          `HTML ${total(["document"])}, scripts ${total(["script"])}, styles ${total(["stylesheet"])} bytes`,
        );
        assert.ok(code <= 25_000, `${code} bytes: ${JSON.stringify(bodies)}`);
        assert.ok(!bodies.some(({ path }) => path === "/api/trending"), "it asked for its list");
      },
      {
        prepare: async (page) => {
          page.on("response", async (response) => {
            const { pathname } = new URL(response.url());
            const body = await response.body().catch(() => Buffer.from(""));
            const bytes = brotliCompressSync(body, { params: { 1: 4 } }).length; // BROTLI_PARAM_QUALITY
            bodies.push({ path: pathname, type: response.request().resourceType(), bytes });
          });
        },
      },
    );
  });
});
