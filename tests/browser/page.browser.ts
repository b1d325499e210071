import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertAccessible } from "./test-support/axe.ts";
import { idsOf, openPage, ranksOf, upTo } from "./test-support/open-page.ts";
import { serveSite } from "./test-support/site.ts";
import { sharedStack } from "./test-support/stack.ts";
import { visit } from "./test-support/visit.ts";

describe("the page", () => {
  test("shows a list with pictures, movement, sparklines and links", () =>
    openPage("/?region=GB", async ({ page }) => {
      assert.deepEqual(await ranksOf(page), upTo(24));
      const list = page.locator("trendvault-list");
      assert.equal(await list.locator("img.thumb").count(), 24);
      assert.equal(await list.locator(".sparkline").count(), 24);
      assert.equal(await list.locator('a[href^="https://videos.example/"]').count(), 24);
      assert.ok((await list.locator(".up").count()) > 0);
      assert.ok((await list.locator(".down").count()) > 0);
    }));

  test("picks another market, window and category without a reload, and goes back through them", () =>
    openPage("/?region=GB", async ({ page }) => {
      await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
      await page.getByRole("combobox", { name: "Country" }).selectOption("PL");
      await page.waitForURL("**/?region=PL");
      assert.match((await idsOf(page))[0] ?? "", /^pl-/);
      assert.equal(await page.locator("html").getAttribute("lang"), "pl");
      await page.locator("nav.windows a").first().click();
      await page.waitForURL("**/?region=PL&window=now");
      await page.locator("nav.categories a").nth(1).click();
      await page.waitForURL("**/?region=PL&window=now&category=*");
      assert.equal(await page.locator("nav.categories a").nth(1).getAttribute("aria-current"), "true");
      await page.goBack();
      await page.waitForURL("**/?region=PL&window=now");
      await page.goBack();
      await page.goBack();
      await page.waitForURL("**/?region=GB");
      await page.locator('trendvault-list [data-id^="gb-"]').first().waitFor();
      assert.equal(await page.getByRole("combobox").inputValue(), "GB");
      assert.ok(await page.evaluate(() => "isSameDocument" in globalThis));
    }));

  test("keeps the focus where it was after a choice, and can be used on with the keyboard alone", () =>
    openPage("/?region=GB", async ({ page }) => {
      const last = page.locator("nav.windows a").last();
      await last.focus();
      await page.keyboard.press("Enter");
      await page.waitForURL("**/?region=GB&window=week");
      assert.equal(
        await page.evaluate(() => document.activeElement?.textContent),
        await page.locator("nav.windows [aria-current]").textContent(),
      );
    }));

  const deepLinks: [target: string, lang: string, current: string[]][] = [
    ["/?region=DE&window=week&category=Music&lang=en", "en", ["Next 7 days", "Music"]],
    ["/?region=PL&window=now", "pl", ["Najbliższe 6 godzin", "Wszystkie kategorie"]],
  ];
  for (const [target, lang, current] of deepLinks) {
    test(`is at ${target} what the address says`, () =>
      openPage(target, async ({ page }) => {
        assert.equal(await page.locator("html").getAttribute("lang"), lang);
        assert.deepEqual(await page.locator("nav [aria-current]:not([lang])").allTextContents(), current);
        assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, target);
      }));
  }

  test("shows further ranks while scrolling, each once and all of one generation, while others are published", () =>
    openPage("/?region=FR", async ({ page, stack }) => {
      const shown = await idsOf(page);
      for (const last of [48, 60]) {
        await stack.publish();
        await page.locator("#foot").scrollIntoViewIfNeeded();
        await page.locator(`trendvault-list li[data-rank="${last}"]`).waitFor();
      }
      assert.deepEqual(await ranksOf(page), upTo(60));
      const ids = await idsOf(page);
      assert.equal(new Set(ids).size, 60);
      assert.deepEqual(ids.slice(0, 24), shown);
      assert.equal(await page.locator("#more").count(), 0);
    }));

  test("says why a video is there", () =>
    openPage("/?region=GB", async ({ page }) => {
      await page.locator("trendvault-list summary").first().click();
      await page.locator("trendvault-list .explanation p").first().waitFor();
      await assertAccessible(page);
    }));

  test("stores nothing that names anybody, and sends no cookie", () =>
    openPage("/?region=GB", async ({ page, context }) => {
      await page.evaluate(() => navigator.serviceWorker.ready);
      await page.reload();
      assert.deepEqual(await context.cookies(), []);
      const stored = await page.evaluate(async () => ({
        local: localStorage.length,
        session: sessionStorage.length,
        databases: (await indexedDB.databases()).length,
        urls: (await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys())))
          .flat()
          .map(({ url }) => new URL(url).pathname),
      }));
      assert.deepEqual({ ...stored, urls: [] }, { local: 0, session: 0, databases: 0, urls: [] });
      assert.ok(
        stored.urls.every((path) => path === "/" || path.startsWith("/assets/")),
        String(stored.urls),
      );
    }));
});

describe("the page without scripts", () => {
  const options = { javaScriptEnabled: false };

  test("is the list, accessibly, with pickers that work and further ranks behind a link", () =>
    openPage(
      "/?region=GB",
      async ({ page }) => {
        await page.getByRole("combobox", { name: "Country" }).selectOption("SE");
        await page.getByRole("button", { name: "Show" }).click();
        await page.waitForURL("**/?region=SE");
        await page.locator("nav.windows a").first().click();
        await page.waitForURL("**/?region=SE&window=now");
        await page.locator("a[rel=next]").click();
        await page.waitForURL(/cursor=/);
        await page.locator('trendvault-list li[data-rank="25"]').waitFor();
        assert.equal(await page.locator("trendvault-list li").count(), 24);
      },
      options,
    ));
});

describe("another site, with one script tag from the edge,", () => {
  test("shows the list of PL, with pictures", async () => {
    const { edge, pictures } = await sharedStack();
    const tags = `<script type="module" src="${edge.url}/assets/trendvault-list.js"></script>
<trendvault-list region="PL" limit="10"></trendvault-list>`;
    const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A partner</title>${tags}`;
    const partner = await serveSite("partner", { "/": { body } });
    const hosts = [new URL(edge.url).host, pictures.host];
    await visit(partner.url, { hosts }, async ({ page }) => {
      await page.goto("/");
      await page.locator('trendvault-list li[data-rank="10"]').waitFor();
      assert.match((await idsOf(page)).join(" "), /^(pl-\d+ ?){10}$/);
      assert.equal(await page.locator("trendvault-list img.thumb").count(), 10);
      await page.screenshot({ path: join(import.meta.dirname, "screenshots/element.png"), fullPage: true });
    });
    await partner.stop();
  });
});
