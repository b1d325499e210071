import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { regionCodes } from "@trendvault/contract/regions";
import { assertAccessible } from "./test-support/axe.ts";
import { sharedStack } from "./test-support/stack.ts";
import { visit } from "./test-support/visit.ts";

describe("in a browser, the endpoint", () => {
  let edge: string;
  before(async () => {
    edge = (await sharedStack()).edge.url;
  });

  test("shows the regions as JSON", () =>
    visit(edge, {}, async ({ page }) => {
      await page.goto("/api/regions");
      const shown = JSON.parse((await page.locator("body").textContent()) ?? "") as {
        regions: { code: string }[];
      };
      assert.deepEqual(
        shown.regions.map(({ code }) => code),
        regionCodes,
      );
    }));

  test("explains its problems on pages that are accessible", () =>
    visit(edge, {}, async ({ page }) => {
      await page.goto("/problems/not-found");
      await assertAccessible(page);
    }));
});
