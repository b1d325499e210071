import { existsSync, readFileSync } from "node:fs";
import { type Count, countClosingLine, countJunit } from "./count.ts";
import type { Suite } from "./suites.ts";

/** `trouble` says in a sentence why the suite failed where no failed test says it. */
export type Result = Count & { suite: Suite; seconds: number; output: string; trouble?: string };

/** Runs one suite in `root`; `report` is where its JUnit report goes. Never throws for a failing suite. */
export async function runSuite(
  suite: Suite,
  { root, report }: { root: string; report: string },
): Promise<Result> {
  const started = performance.now();
  const { exitCode, output } = await run(expand(suite, { root, report }), root);
  const seconds = (performance.now() - started) / 1000;
  return { suite, seconds, output, ...judge(suite, { exitCode, output, report }) };
}

type Finished = { exitCode: number; output: string; report: string };

/** Turns what a finished suite left behind into a count; a run that cannot be counted has failed. */
function judge(suite: Suite, finished: Finished): Count & { trouble?: string } {
  const count = countFinished(suite, finished);
  if (count === null) return failure(`it left no count of its tests (exit code ${finished.exitCode})`);
  if ("trouble" in count) return count;
  if (count.passed + count.failed === 0) return failure("it ran no test");
  if (finished.exitCode !== 0 && count.failed === 0) {
    return {
      ...failure(`its tests passed, but it ended with exit code ${finished.exitCode}`),
      passed: count.passed,
    };
  }
  return count;
}

function countFinished(
  suite: Suite,
  { exitCode, output, report }: Finished,
): ReturnType<typeof judge> | null {
  switch (suite.counting) {
    case "exit-code":
      return exitCode === 0 ? { passed: 1, failed: 0, skipped: [] } : failure(`exit code ${exitCode}`);
    case "closing-line":
      return countClosingLine(output);
    case "junit":
      return existsSync(report) ? countReport(report) : null;
  }
}

function countReport(path: string): ReturnType<typeof judge> {
  try {
    return countJunit(readFileSync(path, "utf8"));
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

function failure(trouble: string): Count & { trouble: string } {
  return { passed: 0, failed: 1, skipped: [], trouble };
}

function expand(suite: Suite, { root, report }: { root: string; report: string }): string[] {
  return suite.command.flatMap((word) => {
    if (word === "FILES") return trackedFiles(suite.files ?? [], root);
    return [word.replace("REPORT", report)];
  });
}

function trackedFiles(patterns: readonly string[], root: string): string[] {
  const command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", ...patterns];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) throw new Error(`Cannot list the files to check: ${stderr.toString().trim()}`);
  return stdout
    .toString()
    .split("\n")
    .filter((file) => file !== "" && existsSync(`${root}/${file}`));
}

async function run(command: string[], cwd: string): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
  });
  const output = await child.stdout.text();
  return { exitCode: await child.exited, output };
}
