import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { parseOptions } from "./main.ts";
import { describeResult, summarize } from "./report.ts";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import { parts, type Suite } from "./suites.ts";

const folder = newFolder("check");
afterAll(() => rmSync(folder, { recursive: true }));

describe("options", () => {
  test("without arguments every part is checked, one suite more at a time than there are processors", () => {
    expect(parseOptions([])).toMatchObject({ parts: [], jobs: 2 * availableParallelism() });
  });

  test("an unknown part is refused with the parts there are", () => {
    expect(() => parseOptions(["apy"])).toThrow(/Unknown part "apy": expected .*api/);
  });

  test.each(["0", "two", "-1"])("--jobs %s is refused", (jobs) => {
    expect(() => parseOptions([`--jobs=${jobs}`])).toThrow("expected 1 to 99");
  });

  test("--only takes suites whose name begins so, and refuses a name that no suite has", () => {
    expect(parseOptions(["style", "--only", "tsc"])).toMatchObject({ parts: ["style"], only: "tsc" });
    expect(() => parseOptions(["--only=tcs"])).toThrow('begins with "tcs"');
  });

  test("the usage names every part", () => {
    const usage = readFileSync(join(import.meta.dir, "usage.txt"), "utf8");
    expect(/ of: (.*)/.exec(usage)?.[1]?.split(", ").sort()).toEqual([...parts].sort());
  });

  test("--seed is taken, the same commit draws the same without it, and long or random runs draw anew", () => {
    expect(parseOptions(["--seed", "42"])).toMatchObject({ seed: 42, long: false });
    const seedsOf = (argv: string[]) => new Set(Array.from({ length: 20 }, () => parseOptions(argv).seed));
    expect(seedsOf([]).size).toBe(1);
    expect(seedsOf(["--long"]).size).toBeGreaterThan(1);
    expect(seedsOf(["--seed", "random"]).size).toBeGreaterThan(1);
  });

  test.each(["0", "-1", "x", "1.5", "4294967296"])("--seed %s is refused", (seed) => {
    expect(() => parseOptions([`--seed=${seed}`])).toThrow("expected 1 to 4294967295");
  });
});

describe("a suite", () => {
  const runShell = (script: string, counting: Suite["counting"], more = {}): Promise<SuiteResult> => {
    const suite = { part: "x", name: "y", counting, command: ["sh", "-c", script, "REPORT", "REPORT"] };
    return runSuite(suite, { root: folder, folder, long: false, seed: 1, ...more });
  };

  test("that is one check and exits with 0 counts as one passed test", async () => {
    expect(await runShell("exit 0", "exit-code")).toMatchObject({ passed: 1, failed: 0 });
  });

  test("that exits with another code has failed, and its output on both streams is kept", async () => {
    const result = await runShell("echo out; echo err >&2; exit 3", "exit-code");
    expect(result).toMatchObject({ passed: 0, failed: 1, output: "out\nerr\n" });
  });

  test("whose report holds no test has failed", async () => {
    const result = await runShell('echo "<testsuites></testsuites>" > "$1"', "junit");
    expect(result).toMatchObject({ failed: 1, failureReason: "it ran no test" });
  });

  test("whose pinned program is absent, or has another version, is skipped and says how to get it", async () => {
    const program = join(folder, "program");
    writeFileSync(program, '#!/bin/sh\n[ "$1" = --version ] && echo program 1.2.3 || echo all is well');
    chmodSync(program, 0o755);
    const run = (command: string, version: string): Promise<SuiteResult> => {
      const suite = { part: "x", name: "y", counting: "exit-code" as const, command: [command] };
      return runSuite(
        { ...suite, pinned: { version, get: "get it" } },
        { root: folder, folder, long: false, seed: 1 },
      );
    };
    for (const [command, version] of [
      ["no-such-program", "1.2.3"],
      [program, "1.2.4"],
    ] as const) {
      const result = await run(command, version);
      expect(result).toMatchObject({ passed: 0, failed: 0 });
      expect(summarize([result])).toContain(`skipped x: y: ${command} ${version} is not here: get it`);
    }
    expect(describeResult(await run(program, "1.2.3"))).toMatch(/^ok +x: y \(1, .* s\): all is well$/);
  });

  test("that leaves no report, or half of one, has failed", async () => {
    expect((await runShell("exit 0", "junit")).failureReason).toContain("no count");
    const half = await runShell(`echo '<testsuites><testcase name="a"/>' > "$1"`, "junit");
    expect(half).toMatchObject({ failed: 1, failureReason: expect.stringContaining("not valid XML") });
  });

  test("that dies after its tests passed has failed", async () => {
    const result = await runShell('echo "<a><testcase name=\\"t\\"/></a>" > "$1"; exit 139', "junit");
    expect(result).toMatchObject({ passed: 1, failed: 1, failureReason: expect.stringContaining("139") });
  });

  test("is counted by its last closing line and the lines before it that name failed tests", async () => {
    const script = "printf '%s\\n' '1 passed, 0 failed' 'FAILED b c' '  why' '7 passed, 1 failed'; exit 1";
    const failures = [{ name: "b c", message: "" }];
    expect(await runShell(script, "closing-line")).toMatchObject({ passed: 7, failed: 1, failures });
  });

  test.each(["0 passed, 0 failed", "it says 7 passed, 2 failed today"])(
    "whose last line is '%s' has failed",
    async (line) => {
      expect(await runShell(`echo '${line}'`, "closing-line")).toMatchObject({ passed: 0, failed: 1 });
    },
  );

  test.each([
    [{ seed: 42, long: true }, "42 1"],
    [{ seed: 7, long: false }, "7 "],
  ])("gets %p and the run's folder", async (options, output) => {
    const result = await runShell('echo "$TEST_SEED $TEST_LONG $TMPDIR"', "exit-code", options);
    expect(result.output).toBe(`${output} ${folder}\n`);
  });

  test("may take longer in a long run", async () => {
    const timeout = async (long: boolean) => {
      const suite = { part: "x", name: "y", counting: "exit-code", command: ["echo", "TIMEOUT_MS"] } as const;
      return Number((await runSuite(suite, { root: folder, folder, long, seed: 1 })).output);
    };
    expect(await timeout(true)).toBeGreaterThan(await timeout(false));
  });
});

describe("a JUnit report", () => {
  const countOf = (cases: string): Promise<SuiteResult> => {
    const report = `<?xml version="1.0"?><testsuites><testsuite name="outer"><testsuite name="inner">${cases}</testsuite></testsuite></testsuites>`;
    writeFileSync(join(folder, "report.xml"), report);
    const command = ["cp", join(folder, "report.xml"), "REPORT"];
    return runSuite(
      { part: "x", name: "y", counting: "junit", command },
      { root: folder, folder, long: false, seed: 1 },
    );
  };

  test("counts cases in nested suites, with failures and errors as failed", async () => {
    const cases =
      '<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><error>x</error></testcase>';
    expect(await countOf(cases)).toMatchObject({ passed: 1, failed: 2, skipped: [] });
  });

  test("names each skipped case with its reason", async () => {
    const cases =
      '<testcase name="a"><skipped message="no nginx"/></testcase><testcase name="b"><skipped/></testcase><testcase name="c"/>';
    expect((await countOf(cases)).skipped).toEqual([
      { name: "a", reason: "no nginx" },
      { name: "b", reason: null },
    ]);
  });

  const failed: [string, string, SuiteResult["failures"][number]][] = [
    [
      "Bun",
      '<testcase name="adds" classname="group" file="a/b.test.ts"><failure message="expected 2&#10;got 1">…</failure></testcase>',
      { name: "b.test.ts: adds", message: "expected 2\ngot 1" },
    ],
    [
      "PHPUnit",
      `<testcase name="e with data set &quot;one&quot;" class="A\\BTest" classname="A.BTest" file="/x/BTest.php">
        <error type="RuntimeException">A\\BTest::e with data set "one"\nRuntimeException: no\n\n/x/BTest.php:5</error></testcase>`,
      { name: 'BTest.php: e with data set "one"', message: "RuntimeException: no\n\n/x/BTest.php:5" },
    ],
    [
      "pytest",
      '<testcase name="test_a" classname="bench.test_b"><failure message="assert 1 == 2">…</failure></testcase>',
      { name: "bench.test_b: test_a", message: "assert 1 == 2" },
    ],
    [
      "node",
      '<testcase name="a" classname="test" failure="1 == 2"><failure message="1 == 2">…</failure></testcase>',
      { name: "a", message: "1 == 2" },
    ],
    ["nobody", '<testcase name="a"><failure/></testcase>', { name: "a", message: "" }],
  ];

  test.each(failed)("of %s names each failed case with its message", async (_runner, testcase, failure) => {
    expect((await countOf(testcase)).failures).toEqual([failure]);
  });
});

describe("what bin/test prints", () => {
  const suite = { part: "x", name: "y", counting: "junit", command: [] } as const;
  const result = (rest: Partial<SuiteResult>): SuiteResult => ({
    ...{ suite, seconds: 1, output: "", passed: 0, failed: 0, skipped: [], failures: [] },
    ...rest,
  });

  test("adds all suites up and ends with the closing line", () => {
    const results = [result({ passed: 7 }), result({ passed: 1, failed: 2 })];
    expect(summarize(results)).toEndWith("\n8 passed, 2 failed");
  });

  test("shows the output of a suite that skips a test without saying why", () => {
    const skipping = result({ passed: 1, skipped: [{ name: "t", reason: null }], output: "no data here\n" });
    expect(summarize([skipping])).toBe(
      "\n--- x: y: some tests were skipped\nno data here\n\nskipped x: t: its reason is in the output above\n1 passed, 0 failed",
    );
  });

  test("has one line for a suite that passed", () => {
    expect(describeResult(result({ passed: 7, output: "much" }))).toBe("ok   x: y (7, 1.0 s)");
  });

  test("has a line for each failed test under the suite's", () => {
    const failures = [
      { name: "a.test.ts: adds", message: "expected 2\n\n  got 1\n" },
      { name: "b", message: "" },
    ];
    expect(describeResult(result({ passed: 5, failed: 2, failures }))).toBe(
      "FAIL x: y (5 passed, 2 failed, 1.0 s)\n     a.test.ts: adds: expected 2 got 1\n     b",
    );
  });

  test("names the first ten of many failed tests, with 300 characters each", () => {
    const failures = Array.from({ length: 12 }, (_, index) => ({
      name: `t${index}`,
      message: "x".repeat(999),
    }));
    const lines = describeResult(result({ failed: 12, failures })).split("\n");
    expect(lines).toHaveLength(1 + 10 + 1);
    expect(lines[10]).toStartWith("     t9: xxx");
    expect(lines.map((line) => line.trim().length)).toEqual([expect.any(Number), ...Array(10).fill(300), 10]);
    expect(lines[11]).toBe("     and 2 more");
  });

  test("says of a suite that names no test why it failed and how its output begins", () => {
    const output = "\n1\n2\n\n3\n4\n5\n6\n";
    const lines = describeResult(result({ failed: 1, failureReason: "exit code 3", output })).split("\n");
    expect(lines.slice(1).map((line) => line.trim())).toEqual(["exit code 3", "1", "2", "3", "4", "5"]);
  });
});
