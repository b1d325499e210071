import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";

/**
 * Fails with what axe finds on the page as it is now, by its rules of WCAG 2.2 (A and AA) and of good practice. `except`
 * are rules that it breaks, in markup that is not ours.
 */
export async function assertAccessible(page: Page, except: readonly string[] = []): Promise<void> {
  // Through the debugger, which the page's policy does not concern.
  await page.evaluate(axe.source);
  const findings = await page.evaluate(async (disabled) => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      preload: false, // it copies stylesheets into style elements, against the policy, for css-orientation-lock only
      rules: Object.fromEntries(disabled.map((rule) => [rule, { enabled: false }])),
    });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
  }, except);
  assert.deepEqual(findings, []);
}
