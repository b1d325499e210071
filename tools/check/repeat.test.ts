import { expect, test } from "bun:test";
import { judgeRuns, repeatFailed } from "./repeat.ts";
import type { SuiteResult } from "./run-suite.ts";

const suite = { part: "x", name: "y", counting: "junit", command: [] } as const;

/** A run of ten tests, of which those with these names failed. */
function run(...names: string[]): SuiteResult {
  const failures = names.map((name) => ({ name, message: "why" }));
  const failed = failures.length;
  return { suite, seconds: 1, output: "", passed: 10 - failed, failed, failures, flaky: [], skipped: [] };
}

const broken = { ...run(), failed: 1, passed: 0, failureReason: "it left no count of its tests" };
const names = (failures: readonly { name: string }[]) => failures.map(({ name }) => name);

test("a test that failed in each run has failed", () => {
  const { passed, failed, failures, flaky } = judgeRuns([run("a"), run("a"), run("a")]);
  expect({ passed, failed, flaky }).toEqual({ passed: 9, failed: 1, flaky: [] });
  expect(names(failures)).toEqual(["a"]);
});

test("a test that failed in some of the runs is flaky, named once", () => {
  const { passed, failed, flaky, seconds } = judgeRuns([run("a", "b"), run("a", "c"), run("b")]);
  expect({ passed, failed, seconds }).toEqual({ passed: 10, failed: 0, seconds: 3 });
  expect(names(flaky)).toEqual(["a", "b", "c"]);
});

test("one that fails again is told from one that does not", () => {
  const { passed, failed, failures, flaky } = judgeRuns([run("a", "b"), run("b", "c")]);
  expect({ passed, failed }).toEqual({ passed: 9, failed: 1 });
  expect([names(failures), names(flaky)]).toEqual([["b"], ["a", "c"]]);
});

test("failed tests that no run names have failed, as many as in the run with the fewest", () => {
  const unnamed = (failed: number) => ({ ...run(), failed, passed: 10 - failed });
  expect(judgeRuns([unnamed(3), unnamed(2)])).toMatchObject({ passed: 8, failed: 2 });
  const { failed, flaky } = judgeRuns([unnamed(3), run()]);
  expect([failed, flaky]).toEqual([0, [{ name: "y", message: "3 failed, not named" }]]);
});

test("a run that did not come to its end excuses nothing, and is flaky where another did", () => {
  expect(judgeRuns([run("a"), broken])).toMatchObject({ passed: 9, failed: 1 });
  expect(judgeRuns([broken, broken])).toMatchObject({ failed: 1, failureReason: broken.failureReason });
  const { passed, failed, flaky } = judgeRuns([broken, run()]);
  expect({ passed, failed, flaky: names(flaky) }).toEqual({ passed: 10, failed: 0, flaky: ["y"] });
});

test("a run with fewer tests than another excuses nothing: a hook that fails keeps tests from running", () => {
  const fewer = { ...run("the hook"), passed: 4 };
  const { passed, failed, failures, flaky } = judgeRuns([run("a"), fewer]);
  expect({ passed, failed, failures: names(failures) }).toEqual({ passed: 9, failed: 1, failures: ["a"] });
  expect(names(flaky)).toEqual(["the hook"]);
});

test.each([
  ["a suite without a failure is run once", [run()], 1],
  ["one that fails is run until no test failed in all runs", [run("a"), run("b"), run("c")], 2],
  ["one that fails each time is run three times", [run("a"), run("a"), run("a"), run()], 3],
  ["one that did not come to its end is run again", [broken, run(), run()], 2],
])("%s", async (_, [first, ...later], expected) => {
  const runs = [first as SuiteResult];
  await repeatFailed(runs.slice(), async () => {
    const next = later[runs.length - 1] as SuiteResult;
    runs.push(next);
    return next;
  });
  expect(runs).toHaveLength(expected);
});
