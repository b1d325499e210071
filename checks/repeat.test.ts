import { expect, test } from "bun:test";
import { isWorthRepeating, judgeTwoRuns } from "./repeat.ts";
import type { SuiteResult } from "./run-suite.ts";

const suite = { part: "x", name: "y", counting: "junit", command: [] } as const;

/** A run of ten tests, of which those with these names failed. */
function run(...names: string[]): SuiteResult {
  const failures = names.map((name) => ({ name, message: "why" }));
  const failed = failures.length;
  return { suite, seconds: 1, output: "", passed: 10 - failed, failed, failures, flaky: [], skipped: [] };
}

const names = (failures: readonly { name: string }[]) => failures.map(({ name }) => name);

test("a test that failed in both runs has failed", () => {
  const { passed, failed, failures, flaky } = judgeTwoRuns(run("a"), run("a"));
  expect({ passed, failed, flaky }).toEqual({ passed: 9, failed: 1, flaky: [] });
  expect(names(failures)).toEqual(["a"]);
});

test("a test that failed in one of two runs is flaky", () => {
  const { passed, failed, flaky, seconds } = judgeTwoRuns(run("a", "b"), run("c"));
  expect({ passed, failed, seconds }).toEqual({ passed: 10, failed: 0, seconds: 2 });
  expect(names(flaky)).toEqual(["a", "b", "c"]);
});

test("one that fails again is told from one that does not", () => {
  const { passed, failed, failures, flaky } = judgeTwoRuns(run("a", "b"), run("b", "c"));
  expect({ passed, failed }).toEqual({ passed: 9, failed: 1 });
  expect([names(failures), names(flaky)]).toEqual([["b"], ["a", "c"]]);
});

test("a failed test that the second run does not name has failed", () => {
  const { passed, failed } = judgeTwoRuns(run("a"), { ...run("b"), failed: 3, passed: 7 });
  expect({ passed, failed }).toEqual({ passed: 8, failed: 2 });
});

test("a second run that did not come to its end excuses nothing", () => {
  const broken = { ...run(), failed: 1, passed: 0, failureReason: "it left no count of its tests" };
  expect(judgeTwoRuns(run("a"), broken)).toMatchObject({ passed: 9, failed: 1, flaky: [] });
});

test("only a suite that ended with a few failed tests, all named, is run again", () => {
  expect(isWorthRepeating(run("a"))).toBe(true);
  expect(isWorthRepeating(run("a", "b", "c"))).toBe(true);
  expect(isWorthRepeating(run())).toBe(false);
  expect(isWorthRepeating(run("a", "b", "c", "d"))).toBe(false);
  expect(isWorthRepeating({ ...run("a"), failed: 2 })).toBe(false);
  expect(isWorthRepeating({ ...run(), failed: 1, failureReason: "exit code 1" })).toBe(false);
});
