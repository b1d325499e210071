import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { type OpenPage, openPage } from "./test-support/open-page.ts";

/** What has the focus, also in a shadow tree: its tag and what it is called. */
const focused = (page: Page) =>
  page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return `${element?.localName} ${element?.getAttribute("href") ?? element?.textContent?.trim().slice(0, 20) ?? ""}`;
  });

/** Lets no pause pass but those that a test lets pass. */
async function stopClock(page: Page): Promise<void> {
  const start = Date.now();
  await page.clock.install({ time: start - 3_600_000 });
  await page.clock.pauseAt(start); // installed, it goes on as the machine's does; long enough to get there
}

describe("the page, by keyboard and screen reader,", () => {
  test("leads from the pickers to the list in reading order, and every stop is seen", () =>
    openPage("/?region=GB", async ({ page }) => {
      const stops: string[] = [];
      for (let stop = 0; stop < 16; stop++) {
        await page.keyboard.press("Tab");
        stops.push((await focused(page)).split(" ")[0] ?? "");
        const outline = await page.evaluate(() => {
          let element = document.activeElement;
          while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
          return element === null ? "none" : getComputedStyle(element).outlineStyle;
        });
        assert.notEqual(outline, "none", await focused(page));
      }
      const pickers = ["a", "select", ...Array<string>(3).fill("a"), ...Array<string>(7).fill("a")];
      assert.deepEqual(stops, [...pickers, "a", "summary", "a", "summary"]);
    }));

  test("asks for no market while one is being chosen, and for one when the choice is over", () => {
    const choose = async ({ page }: OpenPage) => {
      const asked: string[] = [];
      page.on("request", (request) => {
        const region = new URL(request.url()).searchParams.get("region");
        if (region !== null) asked.push(region);
      });
      const select = page.locator("select[name=region]");
      const chosen: string[] = [];
      const ends = [
        () => page.clock.runFor(1000),
        () => page.keyboard.press("Enter"),
        () => page.keyboard.press("Tab"),
      ];
      for (const end of ends) {
        await select.focus();
        for (const _ of "123") await page.keyboard.press("ArrowUp");
        assert.deepEqual(asked, chosen);
        chosen.push(await select.inputValue());
        await end();
        await page.waitForURL(`**/?region=${chosen.at(-1)}`);
      }
      assert.deepEqual(asked, chosen);
      assert.equal(new Set(["GB", ...chosen]).size, 4);
    };
    return openPage("/?region=GB", choose, { prepare: stopClock });
  });

  test("keeps the market that is chosen while another one loads", () => {
    const choose = async ({ page }: OpenPage) => {
      const select = page.locator("select[name=region]");
      const list = Promise.withResolvers<void>();
      // As in browsers that say nothing of a control that is taken away while it has the focus.
      await page.evaluate(() =>
        addEventListener("focusout", (event) => event.stopImmediatePropagation(), true),
      );
      await page.route("**/api/trending?*", async (route) => {
        await list.promise;
        await route.continue();
      });
      await select.focus();
      await page.keyboard.press("ArrowUp");
      const loads = page.waitForRequest("**/api/trending?*");
      await page.keyboard.press("Enter");
      await loads;
      await page.keyboard.press("ArrowUp");
      const chosen = await select.inputValue();
      list.resolve();
      await page.waitForURL(`**/?region=${chosen}`);
      assert.equal(await select.inputValue(), chosen);
    };
    return openPage("/?region=GB", choose, { prepare: stopClock });
  });

  test("stays as it was when neither of two markets can be read", () => {
    const errors = [/Failed to load resource/];
    const choose = async ({ page }: OpenPage) => {
      const select = page.locator("select[name=region]");
      const failure = Promise.withResolvers<void>();
      await page.route("**/api/trending?*", async (route) => {
        await failure.promise;
        await route.abort();
      });
      const title = await page.title();
      await select.focus();
      for (const _ of "12") {
        await page.keyboard.press("ArrowUp");
        const loads = page.waitForRequest("**/api/trending?*");
        await page.keyboard.press("Enter");
        await loads;
      }
      failure.resolve();
      await page.locator("#notice p", { hasText: "This could not be " }).waitFor(); // in the language of the page
      await page.waitForFunction(() => document.querySelector("select")?.value === "GB");
      assert.equal(await page.locator("trendvault-list").getAttribute("region"), "GB");
      assert.equal(await page.title(), title);
    };
    return openPage("/?region=GB", choose, { errors });
  });

  test("has a link over the pickers, to the list", () =>
    openPage("/?region=GB", async ({ page }) => {
      await page.keyboard.press("Tab");
      assert.equal(await focused(page), "a #list");
      await page.waitForFunction(() => customElements.get("trendvault-list") !== undefined);
      await page.keyboard.press("Enter");
      await page.waitForURL(/#list$/);
      await page.keyboard.press("Tab");
      assert.match(await focused(page), /^a https:\/\/videos\.example\//);
    }));

  test("is read as banner, two named navigations, a list of headings with their movement, and a foot", () =>
    openPage("/?region=GB", async ({ page }) => {
      const read = await page.locator("body").ariaSnapshot();
      assert.match(read, /^- banner:\n/);
      assert.match(read, /- navigation "Time ahead":/);
      assert.match(read, /- navigation "Category":/);
      assert.match(read, /- main:[\s\S]*- list:[\s\S]*- listitem:[\s\S]*- heading "[^"]+" \[level=2\]/);
      assert.match(read, /(up|down) \d+/);
      assert.match(read, /- img "Views in each of the last 24 hours"/);
      assert.match(read, /- contentinfo:/);
    }));

  test("moves nothing for visitors who want no motion", () =>
    openPage(
      "/?region=GB",
      async ({ page, context }) => {
        await context.setOffline(true);
        await page.locator("#notice p").waitFor();
        assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
      },
      { reducedMotion: "reduce" },
    ));
});
