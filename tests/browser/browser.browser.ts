import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { crossOriginFields } from "@trendvault/contract/http";
import type { Page } from "playwright-core";
import { sharedStack } from "./test-support/stack.ts";
import {
  type Answer,
  assertAccessible,
  browser,
  type Site,
  serveSite,
  type VisitOptions,
  visit,
} from "./test-support/visit.ts";

const page = (policy: string, body = ""): Answer => ({
  headers: { "content-security-policy": policy },
  body: `<!doctype html><title>A page</title><body>${body}`,
});

const answers: Record<string, Answer> = {
  "/inline": page("script-src 'self'", "<script>window.ran = true</script>"),
  "/style": page("style-src 'self'", "<p style='color: red'>text"),
  "/trusted-types": page("require-trusted-types-for 'script'"),
};

/** What the page's and the element's safety is built on: the tests mean nothing in a browser that does not do it. */
const enforced: Record<string, (page: Page) => Promise<boolean>> = {
  "/inline": (page) => page.evaluate(() => !("ran" in window)),
  "/style": (page) =>
    page.locator("p").evaluate((element) => getComputedStyle(element).color === "rgb(0, 0, 0)"),
  "/trusted-types": (page) =>
    page.evaluate(() => {
      try {
        document.body.innerHTML = "<b>text</b>";
        return false;
      } catch {
        return true;
      }
    }),
};

test(`Chromium ${(await browser()).version()} enforces policies`, async () => {
  const site = await serveSite("site", answers);
  for (const [path, isEnforced] of Object.entries(enforced))
    await visit(site.url, { errors: [/./] }, async ({ page }) => {
      await page.goto(path);
      assert.ok(await isEnforced(page), path);
    });
  await site.stop();
});

type Init = { method?: string; headers?: Record<string, string>; credentials?: "include" };

/** What docs/http-api.md promises to scripts of other sites, as a browser enforces it. */
describe("in a browser, a script of another site", () => {
  let edge: string;
  let partner: Site;
  before(async () => {
    edge = (await sharedStack()).edge.url;
    partner = await serveSite("partner", { "/": { body: "<!doctype html><title>Partner</title>" } });
  });
  after(() => partner.stop());

  /** What fetch() gives a script of the partner's page. */
  async function fetchThere(path: string, init: Init = {}, options: VisitOptions = {}) {
    let answer: { status: number; text: string; fields: Record<string, string> } | null = null;
    const hosts = [new URL(edge).host, partner.host];
    await visit(partner.url, { hosts, ...options }, async ({ page }) => {
      await page.goto("/");
      answer = await page.evaluate(
        async ([url, options]) => {
          const response = await fetch(url, options).catch(() => null);
          if (response === null) return null;
          const fields = Object.fromEntries(response.headers);
          return { status: response.status, text: await response.text(), fields };
        },
        [edge + path, init] as const,
      );
    });
    return answer as { status: number; text: string; fields: Record<string, string> } | null;
  }

  test("reads a list, and every field that it takes to check it", async () => {
    const answer = await fetchThere("/api/trending?region=DE&limit=5");
    assert.equal(answer?.status, 200);
    assert.equal(JSON.parse(answer.text).items.length, 5);
    const elsewhere = ["Allow", "Deprecation", "Retry-After", "Sunset"]; // of other answers
    for (const name of crossOriginFields["access-control-expose-headers"]
      .split(", ")
      .filter((name) => !elsewhere.includes(name))) {
      assert.ok(answer.fields[name.toLowerCase()], name);
    }
  });

  test("reads why a request is refused, and what to do", async () => {
    const errors = [/status of 40\d/];
    const unknown = await fetchThere("/api/trending?region=XX", {}, { errors });
    assert.equal(JSON.parse(unknown?.text ?? "").type, "/problems/invalid-parameter");
    const refused = await fetchThere("/api/regions", { method: "POST" }, { errors });
    assert.deepEqual([refused?.status, refused?.fields.allow], [405, "GET, HEAD, OPTIONS"]);
  });

  test("makes a conditional request, for which the browser asks before", async () => {
    const etag = (await fetchThere("/api/regions"))?.fields.etag ?? "";
    const headers = { "if-none-match": etag };
    assert.equal((await fetchThere("/api/regions", { headers }))?.status, 304);
  });

  test("cannot send cookies, nor header fields of its own", async () => {
    const errors = [/blocked by CORS policy/, /Failed to load resource/];
    assert.equal(await fetchThere("/api/regions", { credentials: "include" }, { errors }), null);
    const headers = { "x-other": "1" };
    assert.equal(await fetchThere("/api/regions", { headers }, { errors }), null);
  });
});

test("in a browser, a problem is explained on a page that is accessible", async () =>
  visit((await sharedStack()).edge.url, {}, async ({ page }) => {
    await page.goto("/problems/not-found");
    await assertAccessible(page);
  }));
