import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import type { Counting } from "./suites.ts";

const folder = mkdtempSync(join(tmpdir(), "trendvault-checks-"));

function runShell(script: string, counting: Counting, more = {}): Promise<SuiteResult> {
  const report = join(folder, `${Bun.randomUUIDv7()}.xml`);
  const command = ["sh", "-c", script, "REPORT", "REPORT"];
  const options = { root: folder, report, long: false, seed: 1, ...more };
  return runSuite({ part: "x", name: "y", counting, command }, options);
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
  expect(result).toMatchObject({ failed: 1, failureReason: "it ran no test" });
});

test("a suite that leaves no report has failed", async () => {
  expect(await runShell("exit 0", "junit")).toMatchObject({
    failed: 1,
    failureReason: expect.stringContaining("no count"),
  });
});

test("a suite that dies after its tests passed has failed", async () => {
  const result = await runShell('echo "<a><testcase name=\\"t\\"/></a>" > "$1"; exit 139', "junit");
  expect(result).toMatchObject({ passed: 1, failed: 1, failureReason: expect.stringContaining("139") });
});

test("a closing line that counts nothing is a failure", async () => {
  expect(await runShell("echo '0 passed, 0 failed'", "closing-line")).toMatchObject({ failed: 1 });
});

test.each([
  [{ seed: 42, long: true }, "42 1\n"],
  [{ seed: 7, long: false }, "7 \n"],
])("%p reaches the tests", async (options, output) => {
  const result = await runShell('echo "$TEST_SEED $TEST_LONG"', "exit-code", options);
  expect(result.output).toBe(output);
});

test("a test may take longer in a long run", async () => {
  const timeout = async (long: boolean) => {
    const command = ["echo", "--timeout=TIMEOUT_MS"];
    const suite = { part: "x", name: "y", counting: "exit-code", command } as const;
    const { output } = await runSuite(suite, { root: folder, report: "", long, seed: 1 });
    return Number(output.replace("--timeout=", ""));
  };
  expect(await timeout(true)).toBeGreaterThan(await timeout(false));
});
