import { afterAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { runSuite } from "./run-suite.ts";

const folder = newFolder("hooks");
afterAll(() => rmSync(folder, { recursive: true }));

/** What the report of a file of tests counts, run by node as the suites are. */
function report(name: string, text: string) {
  const file = join(folder, `${name}.mjs`);
  const imports = 'import { after, before, beforeEach, describe, test } from "node:test";\n';
  writeFileSync(file, imports + text);
  const reporter = `--test-reporter=${join(import.meta.dirname, "junit-with-hooks.ts")}`;
  const flags = ["--test", "--experimental-test-isolation=none", reporter];
  const command = ["node", ...flags, "--test-reporter-destination=REPORT", file];
  const suite = { part: "x", name, counting: "junit", command } as const;
  return runSuite(suite, { root: folder, folder, long: false, seed: 1 });
}

test("a suite whose before hook failed says why, before the tests that were not run", async () => {
  const text = `describe("outer", () => {
    test("a good one", () => {});
    describe("a stack", () => {
      before(() => { throw new Error("the row is there already"); });
      test("one", () => {});
      test("two", () => {});
    });
  });`;
  const { passed, failures } = await report("before", text);
  expect(passed).toBe(1);
  expect(failures.map(({ name }) => name)).toEqual(["a hook of: a stack", "one", "two"]);
  expect(failures[0]?.message).toContain("the row is there already");
});

test("a failed after hook is a failure, though each test passed", async () => {
  const text = `describe("a stack", () => {
    after(async () => { throw new TypeError("no stack to close"); });
    test("one", () => {});
  });`;
  const { passed, failures } = await report("after", text);
  expect([passed, failures.length]).toEqual([1, 1]);
  expect(failures[0]?.message).toContain("no stack to close");
});

test("a hook of each test fails the test, which says why itself", async () => {
  const text = `describe("a stack", () => {
    beforeEach(() => { throw new Error("nothing to begin with"); });
    test("one", () => {});
  });`;
  const { failures } = await report("each", text);
  expect(failures).toHaveLength(1);
  expect(failures[0]?.message).toContain("nothing to begin with");
});

test("a report without failed hooks is node's own", async () => {
  const text = `describe("a stack", () => {
    before(() => {});
    test("one", () => {});
    test("two", () => { throw new Error("2 is not 1"); });
    test("three", { skip: "not here" }, () => {});
  });`;
  const { passed, failures, skipped } = await report("none", text);
  expect(passed).toBe(1);
  expect(failures.map(({ name }) => name)).toEqual(["two"]);
  expect(skipped).toEqual([{ name: "three", reason: "not here" }]);
});
