import type { Failure } from "./count.ts";
import type { SuiteResult } from "./run-suite.ts";
import type { Suite } from "./suites.ts";

/** More than this is no accident of one moment. */
const mostFailures = 3;

/**
 * Runs again, one after the other, the suites that may have failed by accident: when nothing else runs, what failed
 * only for want of a processor passes.
 */
export async function repeatFailed(
  results: readonly SuiteResult[],
  run: (suite: Suite) => Promise<SuiteResult>,
): Promise<SuiteResult[]> {
  const judged: SuiteResult[] = [];
  for (const result of results) {
    judged.push(isWorthRepeating(result) ? judgeTwoRuns(result, await run(result.suite)) : result);
  }
  return judged;
}

/** Whether a second run can tell something: a few named tests failed, and the suite came to its end. */
export function isWorthRepeating({ failed, failures, failureReason }: SuiteResult): boolean {
  return failureReason === undefined && failed > 0 && failed <= mostFailures && failures.length === failed;
}

/**
 * What two runs of a suite with the same seed say together: a test has failed that failed in both, and is flaky when it
 * failed in one. A second run that did not come to its end leaves the first one's failures as they are.
 */
export function judgeTwoRuns(first: SuiteResult, second: SuiteResult): SuiteResult {
  const seconds = first.seconds + second.seconds;
  if (second.failureReason !== undefined) return { ...first, seconds };
  const failures = second.failures.filter((failure) => isAmong(failure, first.failures));
  const unnamed = second.failed - second.failures.length;
  const flaky = [
    ...first.failures.filter((failure) => !isAmong(failure, failures)),
    ...second.failures.filter((failure) => !isAmong(failure, failures)),
  ];
  const failed = failures.length + unnamed;
  const passed = second.passed + second.failed - failed;
  return { ...second, passed, failed, failures, flaky, seconds, output: first.output + second.output };
}

function isAmong({ name }: Failure, failures: readonly Failure[]): boolean {
  return failures.some((other) => other.name === name);
}
