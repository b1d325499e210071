import { expect, test } from "bun:test";
import { matchesEntityTag } from "./if-none-match.ts";

test.each([
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", "abc"', true],
  ['"x",W/"abc" , "y"', true],
  ["*", true],
  ['"abd"', false],
  ['"abc-br"', false],
  ["abc", false],
  ['w/"abc"', false],
  ["", false],
])('If-None-Match: %s names "abc": %p', (header, expected) => {
  expect(matchesEntityTag(header, '"abc"')).toBe(expected);
});
