import { describe, expect, test } from "bun:test";
import { countClosingLine, countJunit, type Failure } from "./count.ts";

const report = (cases: string) =>
  `<?xml version="1.0"?><testsuites><testsuite name="outer"><testsuite name="inner">${cases}</testsuite></testsuite></testsuites>`;

describe("a JUnit report", () => {
  test("counts cases in nested suites, with failures and errors as failed", () => {
    const cases =
      '<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><error>x</error></testcase>';
    expect(countJunit(report(cases))).toMatchObject({ passed: 1, failed: 2, skipped: [] });
  });

  test("names each skipped case with its reason", () => {
    const cases =
      '<testcase name="a"><skipped message="no nginx"/></testcase><testcase name="b"><skipped/></testcase>';
    expect(countJunit(report(cases)).skipped).toEqual([
      { name: "a", reason: "no nginx" },
      { name: "b", reason: null },
    ]);
  });

  test("without a case counts nothing", () => {
    expect(countJunit(report(""))).toEqual({ passed: 0, failed: 0, skipped: [], failures: [] });
  });

  const failed: [string, string, Failure][] = [
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

  test.each(failed)("of %s names each failed case with its message", (_runner, testcase, failure) => {
    expect(countJunit(report(testcase)).failures).toEqual([failure]);
  });

  test("that breaks off is refused", () => {
    expect(() => countJunit('<testsuites><testcase name="a"/>')).toThrow("not valid XML");
  });
});

describe("a closing line", () => {
  test("is read where it is a line of its own, and the last one counts", () => {
    expect(countClosingLine("1 passed, 0 failed\nmore\n7 passed, 2 failed\n")).toEqual({
      passed: 7,
      failed: 2,
      skipped: [],
      failures: [],
    });
  });

  test("comes after lines that name the failed tests", () => {
    expect(countClosingLine("ok a\nFAILED b c\n  why\n1 passed, 1 failed\n")?.failures).toEqual([
      { name: "b c", message: "" },
    ]);
  });

  test("is not found inside a sentence", () => {
    expect(countClosingLine("it says 7 passed, 2 failed today")).toBeNull();
  });
});
