import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertAccessible } from "./test-support/axe.ts";
import { openPage } from "./test-support/open-page.ts";

const screenshots = join(import.meta.dirname, "screenshots");
mkdirSync(screenshots, { recursive: true });

const sizes = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
  { width: 2560, height: 1440 },
];

describe("the page's look", () => {
  for (const viewport of sizes) {
    for (const colorScheme of ["light", "dark"] as const) {
      test(`is accessible, and fits ${viewport.width} pixels, ${colorScheme}`, () =>
        openPage(
          "/?region=GB",
          async ({ page }) => {
            await assertAccessible(page);
            const { scrollWidth, clientWidth } = await page.evaluate(() => {
              const { scrollWidth, clientWidth } = document.documentElement;
              return { scrollWidth, clientWidth };
            });
            assert.equal(scrollWidth, clientWidth);
            const path = join(screenshots, `page-${viewport.width}-${colorScheme}.png`);
            await page.screenshot({ path });
          },
          { viewport, colorScheme },
        ));
    }
  }
});
