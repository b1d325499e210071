import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "./test-support/axe.ts";
import { type Stack, sharedStack } from "./test-support/stack.ts";
import { type VisitOptions, visit } from "./test-support/visit.ts";

const firstId = async (page: Page) =>
  page.locator("trendvault-list [data-id]").first().getAttribute("data-id");
const ranks = (page: Page) =>
  page.locator("trendvault-list li").evaluateAll((items) => items.map((item) => Number(item.dataset.rank)));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("the page", () => {
  let stack: Stack;
  before(async () => {
    stack = await sharedStack();
  });

  /** Opens a target as a visitor, whose browser may load the pictures. */
  const open = (target: string, run: (page: Page) => Promise<void>, options: VisitOptions = {}) =>
    visit(stack.edge.url, { hosts: [stack.pictures.host], ...options }, async ({ page }) => {
      await page.goto(target);
      await run(page);
    });
  const isLive = (page: Page) =>
    page
      .getByText(/ago\)|vor .*\)|temu\)/)
      .first()
      .waitFor();

  test("shows a list with pictures, movement and sparklines before any script runs", () =>
    open(
      "/?region=GB",
      async (page) => {
        assert.deepEqual(await ranks(page), upTo(24));
        assert.equal(await page.locator("trendvault-list img.thumb").count(), 24);
        assert.ok((await page.locator("trendvault-list .up").count()) > 0);
        assert.ok((await page.locator("trendvault-list .down").count()) > 0);
        assert.equal(await page.locator("trendvault-list .sparkline").count(), 24);
        await assertAccessible(page);
      },
      { javaScriptEnabled: true },
    ));

  test("picks another market, window and category without a reload, and goes back through them", () =>
    open("/?region=GB", async (page) => {
      await isLive(page);
      await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
      await page.getByRole("combobox", { name: "Country" }).selectOption("PL");
      await page.waitForURL("**/?region=PL");
      assert.match((await firstId(page)) ?? "", /^pl-/);
      assert.equal(await page.locator("html").getAttribute("lang"), "pl");
      await page.locator("nav.windows a").first().click();
      await page.waitForURL("**/?region=PL&window=now");
      const category = page.locator("nav.categories a").nth(1);
      const name = await category.textContent();
      await category.click();
      await page.waitForURL("**/?region=PL&window=now&category=*");
      assert.equal(await page.locator("nav.categories [aria-current]").textContent(), name);
      await page.goBack();
      await page.waitForURL("**/?region=PL&window=now");
      await page.goBack();
      await page.goBack();
      await page.waitForURL("**/?region=GB");
      await page.locator('trendvault-list [data-id^="gb-"]').first().waitFor();
      assert.equal(await page.getByRole("combobox").inputValue(), "GB");
      assert.ok(await page.evaluate(() => "isSameDocument" in globalThis));
    }));
});
