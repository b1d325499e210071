import type { Failure } from "./count.ts";
import type { SuiteResult } from "./run-suite.ts";

const mostRuns = 3;

/**
 * Runs the suites that failed again, one after the other and up to twice, until no test has failed in all their runs:
 * when nothing else runs, what failed only for want of a processor passes.
 */
export async function repeatFailed(
  results: readonly SuiteResult[],
  run: (suite: SuiteResult["suite"]) => Promise<SuiteResult>,
): Promise<SuiteResult[]> {
  const judged: SuiteResult[] = [];
  for (const result of results) {
    const runs = [result];
    while (judgeRuns(runs).failed > 0 && runs.length < mostRuns) runs.push(await run(result.suite));
    judged.push(judgeRuns(runs));
  }
  return judged;
}

/**
 * What the runs of a suite with the same seed say together: a test has failed that failed in each run that came to its
 * end, and is flaky when it failed in some of them. A run that did not come to its end, or ran fewer tests than another,
 * excuses no test: the failed one may be among those that it did not run.
 */
export function judgeRuns(runs: readonly SuiteResult[]): SuiteResult {
  const most = Math.max(...runs.filter(hasEnded).map(countTests));
  const isWhole = (run: SuiteResult) => hasEnded(run) && countTests(run) === most;
  const last = runs.findLast(isWhole) ?? runs.at(-1);
  if (last === undefined) throw new Error("there is no run to judge");
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const output = runs.map((run) => run.output).join("");
  if (!isWhole(last)) return { ...last, seconds, output };
  const whole = runs.filter(isWhole);
  const failures = last.failures.filter((failure) => whole.every((run) => isAmong(failure, run.failures)));
  const failed = failures.length + Math.min(...whole.map(countUnnamed));
  const flaky = runs.flatMap(describeAllFailures).filter((failure) => !isAmong(failure, failures));
  const passed = last.passed + last.failed - failed;
  return { ...last, passed, failed, failures, flaky: withoutRepeats(flaky), seconds, output };
}

function hasEnded({ failureReason }: SuiteResult): boolean {
  return failureReason === undefined;
}

function countTests({ passed, failed, skipped }: SuiteResult): number {
  return passed + failed + skipped.length;
}

function countUnnamed({ failed, failures }: SuiteResult): number {
  return failed - failures.length;
}

/** The named failures of a run, and a row for what it does not name. */
function describeAllFailures(run: SuiteResult): Failure[] {
  const name = run.suite.name;
  if (run.failureReason !== undefined) return [{ name, message: run.failureReason }];
  const unnamed = countUnnamed(run);
  return unnamed > 0
    ? [...run.failures, { name, message: `${unnamed} failed, not named` }]
    : [...run.failures];
}

function withoutRepeats(failures: readonly Failure[]): Failure[] {
  return failures.filter((failure, at) => !isAmong(failure, failures.slice(0, at)));
}

function isAmong({ name }: Failure, failures: readonly Failure[]): boolean {
  return failures.some((other) => other.name === name);
}
