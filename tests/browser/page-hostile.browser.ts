import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Random } from "@trendvault/contract/test-support/random";
import { hostileText } from "../../web/client/test-support/hostile-text.ts";
import { assertAccessible } from "./test-support/axe.ts";
import { openPage } from "./test-support/open-page.ts";
import { Stack } from "./test-support/stack.ts";

const random = new Random();
const chosen = [
  `مرحبا بالعالم <b>x</b> ${"ا".repeat(280)}`,
  "👩‍👩‍👧‍👦🏳️‍🌈 ".repeat(40).slice(0, 300),
  "W".repeat(300),
  "<img src=x onerror=\"document.title='owned'\">",
  "</script><script>document.title='owned'</script>",
];
const titles = [...chosen, ...Array.from({ length: 14 }, () => hostileText(random))];
const links = ["https://videos.example/%3Cx%3E", "https://videos.example/?a=1&amp;b=javascript:x", null];

/** Lines whose title, channel, category and addresses are as bad as the writer lets them be. */
function hostileLines(): object[] {
  return [2, 1, 0].flatMap((ago) =>
    titles.map((title, n) => ({
      id: `hostile-${n}`,
      region: "IE",
      observed_at: new Date(Date.now() - ago * 3_600_000).toISOString().replace(/\.\d+Z$/, "Z"),
      views: 1_000_000 * (40 - n) * (4 - ago),
      title: printable(title, 300),
      channel: printable(titles[(n + 1) % titles.length] ?? "", 100),
      category: n % 2 === 0 ? "<script>alert(1)</script>" : `"'&amp;`,
      thumb_base: n % 2 === 0 ? "https://elsewhere.example/x" : "http://127.0.0.1:1/x",
      ...(links[n % links.length] === null ? {} : { url: links[n % links.length] }),
    })),
  );
}

/** What the writer takes: no control characters, none that turn the direction of what follows, and only Unicode. */
function printable(text: string, length: number): string {
  const allowed = text.toWellFormed().replace(/\p{Cc}|\p{Bidi_Control}|\p{Zl}|\p{Zp}/gu, " ");
  return Array.from(allowed).slice(0, length).join("").trim() || "a text";
}

describe(`a hostile catalogue (seed ${random.seed})`, () => {
  let stack: Stack;
  before(async () => {
    stack = await Stack.start();
    stack.database.ingest(hostileLines());
    await stack.publish();
  });
  after(() => stack.close());

  for (const [name, options] of [
    ["with scripts", {}],
    ["without scripts", { javaScriptEnabled: false }],
  ] as const) {
    test(`is text, with links and pictures only where they are allowed, ${name}`, () =>
      openPage(
        "/?region=IE",
        async ({ page }) => {
          const list = page.locator("trendvault-list");
          assert.ok((await list.locator('[data-id^="hostile-"]').count()) > 5);
          assert.equal(await page.title(), "Trending: Ireland");
          assert.equal(await list.locator("img").count(), 24 - (await list.locator(".placeholder").count()));
          assert.equal(await page.locator('script:not([type="application/json"]):not([src])').count(), 0);
          const shown = new Set(await list.locator(".title").allTextContents());
          assert.ok(
            chosen.filter((title) => shown.has(printable(title, 300))).length > 3,
            "titles are shown as they are",
          );
          for (const href of await list
            .locator("a")
            .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href)))
            assert.match(href, /^https:\/\/videos\.example\//);
        },
        { stack, ...options },
      ));
  }

  test("is accessible, fits 320 pixels, and stays text in further pages, other categories and explanations", () =>
    openPage(
      "/?region=IE",
      async ({ page }) => {
        await page.getByRole("link", { name: "<script>alert(1)</script>", exact: true }).click();
        await page.waitForURL("**&category=*");
        await page.getByRole("link", { name: "All categories" }).click();
        await page.waitForURL("**/?region=IE");
        await page.locator("trendvault-list summary").first().click();
        await page.locator("#foot").scrollIntoViewIfNeeded();
        await page.locator('trendvault-list li[data-rank="48"]').waitFor();
        await assertAccessible(page);
        const tooWide = await page.evaluate(() => {
          const root = document.querySelector("trendvault-list")?.shadowRoot;
          return [...document.querySelectorAll("*"), ...(root?.querySelectorAll("*") ?? [])]
            .filter(
              (element) =>
                document.documentElement.scrollWidth > innerWidth && element.scrollWidth > innerWidth,
            )
            .map(
              (element) => `${element.localName}.${element.className}: ${element.textContent?.slice(0, 80)}`,
            );
        });
        assert.deepEqual(tooWide, []);
        assert.equal(await page.title(), "Trending: Ireland");
      },
      { stack, viewport: { width: 320, height: 640 } },
    ));
});
