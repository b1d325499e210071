import type { SuiteResult } from "./run-suite.ts";

/** One line per finished suite: what it is, what it counted, how long it took. */
export function describeResult({ suite, passed, failed, seconds }: SuiteResult): string {
  const mark = failed === 0 ? "ok  " : "FAIL";
  const counts = failed === 0 ? `${passed}` : `${passed} passed, ${failed} failed`;
  return `${mark} ${suite.part}: ${suite.name} (${counts}, ${seconds.toFixed(1)} s)`;
}

/**
 * All that a suite printed, under a line that says why it is shown: it failed, or it skipped tests and only its
 * output tells why (PHPUnit's report does not). Empty for one that passed.
 */
export function describeOutput({ suite, failed, skipped, output, failureReason }: SuiteResult): string {
  const unexplained = skipped.some((test) => test.reason === null);
  if (failed === 0 && !unexplained) return "";
  const reason =
    failed === 0 ? "some tests were skipped" : (failureReason ?? `${failed} of its tests failed`);
  return `\n--- ${suite.part}: ${suite.name}: ${reason}\n${output.trimEnd()}\n`;
}

/** The skipped tests with their reasons, then the closing line that machines read. */
export function summarize(results: readonly SuiteResult[]): string {
  const skipped = results.flatMap((result) =>
    result.skipped.map(
      ({ name, reason }) => `${result.suite.part}: ${name}: ${reason ?? "its reason is in the output above"}`,
    ),
  );
  const lines = skipped.map((test) => `skipped ${test}`);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  return [...lines, `${passed} passed, ${failed} failed`].join("\n");
}
