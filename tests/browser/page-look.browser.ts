import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
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

const targets = [
  { name: "page", target: "/?region=GB" },
  { name: "about", target: "/about" },
];

describe("the look of", () => {
  for (const { name, target } of targets) {
    for (const viewport of sizes) {
      for (const colorScheme of ["light", "dark"] as const) {
        test(`the ${name} is accessible, and fits ${viewport.width} pixels, ${colorScheme}`, () =>
          openPage(
            target,
            async ({ page }) => {
              await assertAccessible(page);
              assert.equal(await hiddenAtTheSide(page), 0);
              const path = join(screenshots, `${name}-${viewport.width}-${colorScheme}.png`);
              await page.screenshot({ path });
            },
            { viewport, colorScheme },
          ));
      }
    }
  }
});

/** How many pixels of the page can only be seen by scrolling sideways. */
function hiddenAtTheSide(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
