import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeOutput, summarize } from "./report.ts";
import { type Result, runSuite } from "./run-suite.ts";
import type { Counting } from "./suites.ts";

const folder = mkdtempSync(join(tmpdir(), "trendvault-checks-"));

function runShell(script: string, counting: Counting): Promise<Result> {
  const report = join(folder, `${Bun.randomUUIDv7()}.xml`);
  const command = ["sh", "-c", script, "REPORT", "REPORT"];
  return runSuite({ part: "x", name: "y", counting, command }, { root: folder, report });
}

test("a check that exits with 0 counts as one passed test", async () => {
  expect(await runShell("exit 0", "exit-code")).toMatchObject({ passed: 1, failed: 0 });
});

test("a check that exits with another code has failed, and its output on both streams is kept", async () => {
  const result = await runShell("echo out; echo err >&2; exit 3", "exit-code");
  expect(result).toMatchObject({ passed: 0, failed: 1, output: "out\nerr\n" });
});

test("a suite whose report holds no test has failed", async () => {
  const result = await runShell('echo "<testsuites></testsuites>" > "$1"', "junit");
  expect(result).toMatchObject({ failed: 1, trouble: "it ran no test" });
});

test("a suite that leaves no report has failed", async () => {
  expect(await runShell("exit 0", "junit")).toMatchObject({
    failed: 1,
    trouble: expect.stringContaining("no count"),
  });
});

test("a suite that dies after its tests passed has failed", async () => {
  const result = await runShell('echo "<a><testcase name=\\"t\\"/></a>" > "$1"; exit 139', "junit");
  expect(result).toMatchObject({ passed: 1, failed: 1, trouble: expect.stringContaining("139") });
});

test("a closing line that counts nothing is a failure", async () => {
  expect(await runShell("echo '0 passed, 0 failed'", "closing-line")).toMatchObject({ failed: 1 });
});

test("the summary adds all suites up and ends with the closing line", async () => {
  const results = await Promise.all([
    runShell("echo '7 passed, 0 failed'", "closing-line"),
    runShell("echo '1 passed, 2 failed'; exit 1", "closing-line"),
  ]);
  expect(summarize(results)).toBe("8 passed, 2 failed");
});

test("a suite that skips a test without saying why shows its output", async () => {
  const xml = '<a><testcase name=\\"t\\"><skipped/></testcase><testcase name=\\"u\\"/></a>';
  const result = await runShell(`echo "no data here"; echo "${xml}" > "$1"`, "junit");
  expect(describeOutput(result)).toContain("no data here");
  expect(summarize([result])).toBe("skipped x: t: its reason stands above\n1 passed, 0 failed");
});
