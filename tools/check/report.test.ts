import { expect, test } from "bun:test";
import { describeOutput, describeResult, summarize } from "./report.ts";
import type { SuiteResult } from "./run-suite.ts";

const suite = { part: "x", name: "y", counting: "junit", command: [] } as const;
const result = (rest: Partial<SuiteResult>): SuiteResult => ({
  ...{ suite, seconds: 1, output: "", passed: 0, failed: 0, skipped: [], failures: [], flaky: [] },
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

test("a suite that passed has one line", () => {
  expect(describeResult(result({ passed: 7, output: "much" }))).toBe("ok   x: y (7, 1.0 s)");
});

test("the line of a suite that failed is followed at once by a line for each failed test", () => {
  const failures = [
    { name: "a.test.ts: adds", message: "expected 2\n\n  got 1\n" },
    { name: "b", message: "" },
  ];
  expect(describeResult(result({ passed: 5, failed: 2, failures }))).toBe(
    "FAIL x: y (5 passed, 2 failed, 1.0 s)\n     a.test.ts: adds: expected 2 got 1\n     b",
  );
});

test("of many failed tests the first ten are named, with 300 characters each", () => {
  const failures = Array.from({ length: 12 }, (_, index) => ({
    name: `t${index}`,
    message: "x".repeat(999),
  }));
  const lines = describeResult(result({ failed: 12, failures })).split("\n");
  expect(lines).toHaveLength(1 + 10 + 1);
  expect(lines[10]).toStartWith("     t9: xxx");
  expect(lines.map((line) => line.trim().length)).toEqual([expect.any(Number), ...Array(10).fill(300), 10]);
  expect(lines[11]).toBe("     and 2 more");
});

test("a suite that names no test is followed by why it failed and the first lines of its output", () => {
  const output = "\n1\n2\n\n3\n4\n5\n6\n";
  const lines = describeResult(result({ failed: 1, failureReason: "exit code 3", output })).split("\n");
  expect(lines.slice(1).map((line) => line.trim())).toEqual(["exit code 3", "1", "2", "3", "4", "5"]);
});

test("a flaky test is named under its suite and above the closing line, and its suite's output is shown", () => {
  const failing = result({
    passed: 7,
    output: "much\n",
    flaky: [{ name: "a.test.ts: adds", message: "got 1" }],
  });
  expect(describeResult(failing)).toBe(
    "ok   x: y (7, 1.0 s)\n     flaky, not failed in each run: a.test.ts: adds: got 1",
  );
  expect(describeOutput(failing)).toContain("1 of its tests failed in some of its runs\nmuch");
  expect(summarize([failing])).toBe("flaky x: a.test.ts: adds\n7 passed, 0 failed");
});
