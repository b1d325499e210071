import type { SuiteResult } from "./run-suite.ts";

const most = { failures: 10, characters: 300, linesOfOutput: 5 };

/**
 * A line per finished suite: what it is, what it counted, how long it took, and the last line of a pinned program. Under that of a suite that failed, a line
 * for each of the first failed tests; where it names none, why it failed and how its output begins.
 */
export function describeResult(result: SuiteResult): string {
  const { suite, passed, failed, seconds, output } = result;
  const mark = failed === 0 ? "ok  " : "FAIL";
  const counts = failed === 0 ? `${passed}` : `${passed} passed, ${failed} failed`;
  const said = suite.pinned && passed > 0 ? `: ${output.trim().split("\n").at(-1)?.trim()}` : "";
  const line = `${mark} ${suite.part}: ${suite.name} (${counts}, ${seconds.toFixed(1)} s)${said}`;
  return [line, ...describeFailures(result).map((text) => `     ${inOneLine(text)}`)].join("\n");
}

function describeFailures({ failed, failures, failureReason, output }: SuiteResult): string[] {
  if (failed === 0) return [];
  const named = failures
    .slice(0, most.failures)
    .map(({ name, message }) => (message ? `${name}: ${message}` : name));
  const unnamed = failed - named.length;
  if (named.length > 0) return unnamed > 0 ? [...named, `and ${unnamed} more`] : named;
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  return [failureReason ?? "it does not name them", ...lines.slice(0, most.linesOfOutput)];
}

function inOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most.characters ? `${line.slice(0, most.characters - 1)}…` : line;
}

/**
 * What is printed when all have ended: what those suites printed that failed, or that skipped tests whose reason only
 * their output has (PHPUnit's report does not tell it); the skipped tests with their reasons; the closing line that
 * machines read.
 */
export function summarize(results: readonly SuiteResult[]): string {
  const outputs = results.map((result) => {
    const reason = reasonToShow(result);
    const { suite, output } = result;
    return reason && `\n--- ${suite.part}: ${suite.name}: ${reason}\n${output.trimEnd()}\n`;
  });
  const skipped = results.flatMap(({ suite, skipped }) =>
    skipped.map(
      ({ name, reason }) =>
        `skipped ${suite.part}: ${name}: ${reason ?? "its reason is in the output above"}\n`,
    ),
  );
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  return [...outputs, "\n", ...skipped, `${passed} passed, ${failed} failed`].join("");
}

function reasonToShow({ failed, skipped, failureReason }: SuiteResult): string | null {
  if (failed > 0) return failureReason ?? `${failed} of its tests failed`;
  return skipped.some(({ reason }) => reason === null) ? "some tests were skipped" : null;
}
