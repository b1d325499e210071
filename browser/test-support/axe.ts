import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Fails with what axe finds on the page as it is now, by its rules of WCAG 2.2 (A and AA) and of good practice. */
export async function assertAccessible(page: Page): Promise<void> {
  // Through the debugger, which the page's policy does not concern.
  await page.evaluate(axe.source);
  const findings = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run();
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
  });
  assert.deepEqual(findings, []);
}
