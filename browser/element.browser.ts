import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page, Route } from "playwright-core";
import { assertAccessible } from "./test-support/axe.ts";
import { builtElement } from "./test-support/built-element.ts";
import { type Site, serveSite } from "./test-support/site.ts";
import { sharedStack } from "./test-support/stack.ts";
import { visit } from "./test-support/visit.ts";

const titles = (page: Page) => page.locator("trendvault-list .title").allTextContents();

describe("in a browser, the element on another site", () => {
  let edge: string;
  let partner: Site;
  let script: Site;

  before(async () => {
    edge = (await sharedStack()).edge.url;
    script = await serveSite("script", builtElement());
  });
  after(async () => {
    await partner?.stop();
    await script.stop();
  });

  /** Opens a partner's page with this markup, for which the edge serves the element's script. */
  async function open(
    markup: string,
    run: (page: Page) => Promise<void>,
    errors: RegExp[] = [],
  ): Promise<void> {
    await partner?.stop();
    const html = `<!doctype html><html lang="en"><title>A partner</title>
      <script type="module" src="${script.url}/trendvault-list.js"></script><main><h1>A partner</h1>${markup}</main>`;
    const policy = `default-src 'none'; script-src ${script.url}; connect-src ${edge}; require-trusted-types-for 'script'`;
    partner = await serveSite("partner", {
      "/": { body: html, headers: { "content-security-policy": policy } },
    });
    const hosts = [new URL(edge).host, script.host];
    await visit(partner.url, { hosts, errors }, async ({ page }) => {
      await page.goto("/");
      await run(page);
    });
  }

  test("shows the list of PL by one script tag, accessibly and within a strict policy", () =>
    open(`<trendvault-list src="${edge}" region="PL" limit="5"></trendvault-list>`, async (page) => {
      await page.locator("trendvault-list li").nth(4).waitFor();
      assert.deepEqual((await titles(page)).length, 5);
      await page.locator('trendvault-list [data-id^="pl-"]').first().waitFor();
      await assertAccessible(page);
    }));

  test("shows another list when an attribute changes", () =>
    open(`<trendvault-list src="${edge}" region="PL"></trendvault-list>`, async (page) => {
      await page.locator("trendvault-list li").first().waitFor();
      await page.locator("trendvault-list").evaluate((element) => element.setAttribute("region", "DE"));
      await page.locator('trendvault-list [data-id^="de-"]').first().waitFor();
    }));

  test("shows further pages of the same generation, while another is published", () =>
    open(`<trendvault-list src="${edge}" region="PL" limit="5"></trendvault-list>`, async (page) => {
      await page.locator("trendvault-list li").first().waitFor();
      const stack = await sharedStack();
      await stack.publish();
      const loadNext = () =>
        page
          .locator("trendvault-list")
          .evaluate((element) => (element as unknown as { loadNext(): Promise<boolean> }).loadNext());
      assert.equal(await loadNext(), true);
      assert.equal(await loadNext(), true);
      const ranks = await page
        .locator("trendvault-list li")
        .evaluateAll((items) => items.map((item) => Number(item.dataset.rank)));
      assert.deepEqual(
        ranks,
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
    }));

  test("shows what it verified, and nothing of a list in which one byte was changed", () =>
    open(`<p>…</p>`, async (page) => {
      const markup = (region: string) =>
        page.evaluate(
          ([src, code]) => {
            const element = document.createElement("trendvault-list");
            for (const [name, value] of Object.entries({ src, region: code, verify: "" }))
              element.setAttribute(name, value ?? "");
            document.querySelector("main")?.replaceChildren(element);
          },
          [edge, region],
        );
      await markup("PL");
      await page.locator("trendvault-list li").first().waitFor();
      const changed = async (route: Route) => {
        const response = await route.fetch();
        const body = await response.body();
        const at = body.indexOf('"rank":1') + 7;
        body[at] = (body[at] ?? 0) + 1;
        await route.fulfill({ response, body });
      };
      await page.route("**/api/trending?*", changed);
      await markup("DE");
      await page.getByText("konnte nicht geprüft").or(page.getByText("ließ sich nicht prüfen")).waitFor();
      assert.deepEqual(await titles(page), []);
    }));
});
