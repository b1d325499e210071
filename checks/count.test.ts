import { describe, expect, test } from "bun:test";
import { countClosingLine, countJunit } from "./count.ts";

const report = (cases: string) =>
  `<?xml version="1.0"?><testsuites><testsuite name="outer"><testsuite name="inner">${cases}</testsuite></testsuite></testsuites>`;

describe("a JUnit report", () => {
  test("counts cases in nested suites, with failures and errors as failed", () => {
    const cases =
      '<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><error>x</error></testcase>';
    expect(countJunit(report(cases))).toEqual({ passed: 1, failed: 2, skipped: [] });
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
    expect(countJunit(report(""))).toEqual({ passed: 0, failed: 0, skipped: [] });
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
    });
  });

  test("is not found inside a sentence", () => {
    expect(countClosingLine("it says 7 passed, 2 failed today")).toBeNull();
  });
});
