import { existsSync, readFileSync } from "node:fs";
import { countClosingLine, countJunit, type Failure, type TestCount } from "./count.ts";
import type { Suite } from "./suites.ts";
import { trackedFiles } from "./tracked-files.ts";

/** `failureReason` says in a sentence why the suite failed where no failed test says it. */
export type SuiteResult = TestCount & {
  suite: Suite;
  seconds: number;
  output: string;
  failureReason?: string;
  /** Tests that failed in some runs of the suite, not in all. */
  flaky: readonly Failure[];
};

/** `report` is where the JUnit report goes; `long` and `seed` are as in Options. */
type RunOptions = { root: string; report: string; long: boolean; seed: number };

/** Of a test that hangs: any other ends sooner, however busy the machine is. Waits within tests (until.ts) are shorter. */
const timeoutMs = { usual: 1_200_000, long: 3_600_000 };

/** Runs one suite in `root`. Never throws for a failing suite. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<SuiteResult> {
  const started = performance.now();
  const { exitCode, output } = await execute(expand(suite, options), options);
  const seconds = (performance.now() - started) / 1000;
  const count = countResult(suite, { exitCode, output, report: options.report });
  return { suite, seconds, output, flaky: [], ...count };
}

type SuiteRun = { exitCode: number; output: string; report: string };

/** Counts the tests of a finished run; a run that cannot be counted has failed. */
function countResult(suite: Suite, run: SuiteRun): TestCount & { failureReason?: string } {
  const count = countTests(suite, run);
  if (count === null) return failure(`it left no count of its tests (exit code ${run.exitCode})`);
  if ("failureReason" in count) return count;
  if (count.passed + count.failed === 0) return failure("it ran no test");
  if (run.exitCode !== 0 && count.failed === 0) {
    return {
      ...failure(`its tests passed, but it ended with exit code ${run.exitCode}`),
      passed: count.passed,
    };
  }
  return count;
}

function countTests(
  suite: Suite,
  { exitCode, output, report }: SuiteRun,
): ReturnType<typeof countResult> | null {
  switch (suite.counting) {
    case "exit-code":
      return exitCode === 0
        ? { passed: 1, failed: 0, skipped: [], failures: [] }
        : failure(`exit code ${exitCode}`);
    case "closing-line":
      return countClosingLine(output);
    case "junit":
      return existsSync(report) ? countReport(report) : null;
  }
}

function countReport(path: string): ReturnType<typeof countResult> {
  try {
    return countJunit(readFileSync(path, "utf8"));
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

function failure(failureReason: string): TestCount & { failureReason: string } {
  return { passed: 0, failed: 1, skipped: [], failures: [], failureReason };
}

function expand(suite: Suite, { root, report, long }: RunOptions): string[] {
  const timeout = String(long ? timeoutMs.long : timeoutMs.usual);
  return suite.command.flatMap((word) => {
    if (word === "FILES") return trackedFiles(suite.files ?? [], root);
    return [word.replace("REPORT", report).replace("TIMEOUT_MS", timeout)];
  });
}

/** Tests read TEST_SEED and TEST_LONG where they draw at random. */
async function execute(
  command: string[],
  { root, long, seed }: RunOptions,
): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    cwd: root,
    env: { ...process.env, TEST_SEED: String(seed), TEST_LONG: long ? "1" : "" },
    stdin: "ignore",
    stdout: "pipe",
  });
  const output = await child.stdout.text();
  return { exitCode: await child.exited, output };
}
