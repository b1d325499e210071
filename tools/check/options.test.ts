import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseOptions } from "./options.ts";
import { parts } from "./suites.ts";

test("without arguments every part is checked, two suites at a time", () => {
  expect(parseOptions([])).toMatchObject({ parts: [], jobs: 2 });
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

test("--seed is taken, and another one is drawn for each run without it", () => {
  expect(parseOptions(["--seed", "42"])).toMatchObject({ seed: 42, long: false });
  const drawn = new Set(Array.from({ length: 20 }, () => parseOptions(["--long"]).seed));
  expect(drawn.size).toBeGreaterThan(15);
});

test.each(["0", "-1", "x", "1.5", "4294967296"])("--seed %s is refused", (seed) => {
  expect(() => parseOptions([`--seed=${seed}`])).toThrow("expected 1 to 4294967295");
});
