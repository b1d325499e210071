import assert from "node:assert/strict";
import { afterEach, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "./test-support/axe.ts";
import { type Site, serveSite } from "./test-support/site.ts";
import { sharedStack } from "./test-support/stack.ts";
import { type VisitOptions, visit } from "./test-support/visit.ts";

describe("in a browser, the element on another site", () => {
  let edge: string;
  let pictures: Site;
  let partner: Site | undefined;

  before(async () => {
    const stack = await sharedStack();
    edge = stack.edge.url;
    pictures = stack.pictures;
  });
  afterEach(async () => {
    await partner?.stop();
    partner = undefined;
  });

  /** Opens a partner's page: a script tag of the edge, this markup, and a policy that allows no more than it needs. */
  async function open(markup: string, run: (page: Page) => Promise<void>, options: VisitOptions = {}) {
    const html = `<!doctype html><html lang="en"><title>A partner</title>
      <script type="module" src="${edge}/assets/trendvault-list.js"></script><main><h1>A partner</h1>${markup}</main>`;
    const policy = `default-src 'none'; script-src ${edge}; connect-src ${edge}; img-src ${pictures.url}; require-trusted-types-for 'script'`;
    partner = await serveSite("partner", {
      "/": { body: html, headers: { "content-security-policy": policy } },
    });
    await visit(partner.url, { hosts: [new URL(edge).host, pictures.host], ...options }, async ({ page }) => {
      await page.goto("/");
      await run(page);
    });
  }

  const titles = (page: Page) => page.locator("trendvault-list .title").allTextContents();
  const ranks = (page: Page) =>
    page
      .locator("trendvault-list li")
      .evaluateAll((items) => items.map((item) => Number((item as HTMLElement).dataset.rank)));
  const isShown = (page: Page) => page.locator("trendvault-list li").first().waitFor();

  test("shows the list of PL by one script tag, accessibly and within a strict policy", () =>
    open('<trendvault-list region="PL" limit="5"></trendvault-list>', async (page) => {
      await page.locator("trendvault-list li").nth(4).waitFor();
      assert.deepEqual(await ranks(page), [1, 2, 3, 4, 5]);
      await page.locator('trendvault-list [data-id^="pl-"]').first().waitFor();
      await assertAccessible(page);
    }));

  test("is readable in a dark browser on a page that is light only", () =>
    open(
      '<trendvault-list region="PL" limit="5"></trendvault-list>',
      async (page) => {
        await isShown(page);
        await assertAccessible(page);
      },
      { colorScheme: "dark" },
    ));

  test("shows another list when an attribute changes", () =>
    open('<trendvault-list region="PL"></trendvault-list>', async (page) => {
      await isShown(page);
      await page.locator("trendvault-list").evaluate((element) => element.setAttribute("region", "DE"));
      await page.locator('trendvault-list [data-id^="de-"]').first().waitFor();
    }));

  test("shows further pages of the same generation while another is published", () =>
    open('<trendvault-list region="PL" limit="5"></trendvault-list>', async (page) => {
      await isShown(page);
      await (await sharedStack()).publish();
      type Paging = HTMLElement & { loadNext(): Promise<boolean> };
      const loadNext = () =>
        page.locator("trendvault-list").evaluate((element) => (element as Paging).loadNext());
      assert.deepEqual([await loadNext(), await loadNext()], [true, true]);
      assert.deepEqual(
        await ranks(page),
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
    }));

  test("that is to verify from now on shows nothing that it did not", () =>
    open('<trendvault-list region="PL" lang="en"></trendvault-list>', async (page) => {
      await isShown(page);
      const left = await page.locator("trendvault-list").evaluate((element) => {
        element.setAttribute("verify", "");
        return element.shadowRoot?.querySelectorAll("li").length;
      });
      assert.equal(left, 0);
      await isShown(page);
    }));

  test("shows what it verified", () =>
    open('<trendvault-list region="PL" lang="en" verify></trendvault-list>', isShown));

  test("shows nothing of a list in which one byte was changed, and says so", () =>
    open("", async (page) => {
      await page.route("**/api/trending?*", async (route) => {
        const response = await route.fetch();
        const body = await response.body();
        const at = body.indexOf('"rank":1') + '"rank":'.length;
        body[at] = (body[at] ?? 0) + 1;
        await route.fulfill({ response, body });
      });
      await page.evaluate(() => {
        const element = document.createElement("trendvault-list");
        for (const [name, value] of Object.entries({ region: "PL", lang: "en", verify: "" }))
          element.setAttribute(name, value);
        document.querySelector("main")?.append(element);
      });
      await page.getByText("could not be verified").waitFor();
      assert.deepEqual(await titles(page), []);
      await assertAccessible(page);
    }));
});
