import { expect, test } from "bun:test";
import { describeOutput, summarize } from "./report.ts";
import type { SuiteResult } from "./run-suite.ts";

const suite = { part: "x", name: "y", counting: "junit", command: [] } as const;
const result = (rest: Partial<SuiteResult>): SuiteResult => ({
  ...{ suite, seconds: 1, output: "", passed: 0, failed: 0, skipped: [] },
  ...rest,
});

test("the summary adds all suites up and ends with the closing line", () => {
  const results = [result({ passed: 7 }), result({ passed: 1, failed: 2 })];
  expect(summarize(results)).toBe("8 passed, 2 failed");
});

test("a suite that skips a test without saying why shows its output", () => {
  const skipping = result({ passed: 1, skipped: [{ name: "t", reason: null }], output: "no data here\n" });
  expect(describeOutput(skipping)).toContain("no data here");
  expect(summarize([skipping])).toBe("skipped x: t: its reason is in the output above\n1 passed, 0 failed");
});
