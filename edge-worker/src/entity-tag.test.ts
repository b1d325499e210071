import { expect, test } from "bun:test";
import { matchesEntityTag } from "./entity-tag.ts";

test.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a" ', true],
  ["*", true],
  ['"b"', false],
  ["a", false],
  ["", false],
])("If-None-Match: %s", (ifNoneMatch, expected) => {
  expect(matchesEntityTag(ifNoneMatch, '"a"')).toBe(expected);
});
