import { expect, test } from "bun:test";
import { parseOptions } from "./options.ts";

test("without arguments every part is checked, two suites at a time", () => {
  expect(parseOptions([])).toMatchObject({ parts: [], jobs: 2 });
});

test("an unknown part is refused with the parts there are", () => {
  expect(() => parseOptions(["apy"])).toThrow(/Unknown part "apy": expected .*api/);
});

test.each(["0", "two", "-1"])("--jobs %s is refused", (jobs) => {
  expect(() => parseOptions([`--jobs=${jobs}`])).toThrow("expected 1 to 99");
});
