import { expect, test } from "bun:test";
import { isStillAhead } from "./still-ahead.ts";

test.each<[string, number, boolean]>([
  ["has come", 1000, false],
  ["is ahead", 1001, true],
  ["is as far ahead as it may be set", 1120, true],
  ["was set before the clock went back by minutes", 1300, false],
])("a time that %s", (_, time, expected) => {
  expect(isStillAhead(time, { now: 1000, longest: 120 })).toBe(expected);
});
