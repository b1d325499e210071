import { expect, test } from "bun:test";
import { matchesEntityTag } from "./http.ts";

test.each([
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", "abc"', true],
  ['"x",W/"abc" , "y"', true],
  [', ,"x",, "abc",', true],
  ["*", true],
  [" * ", true],
  ['"abd"', false],
  ['"abc-br"', false],
  ["abc", false],
  ['w/"abc"', false],
  ['"x" "abc"', false],
  ['"a,*,b"', false],
  ['"x,"abc""', false],
  ["", false],
])('If-None-Match: %s names "abc": %p', (header, expected) => {
  expect(matchesEntityTag(header, '"abc"')).toBe(expected);
  expect(matchesEntityTag(header, 'W/"abc"')).toBe(expected); // a proxy that compresses makes a tag weak
});

test("a comma may be part of a tag", () => {
  expect(matchesEntityTag('"x", "a,b"', '"a,b"')).toBe(true);
});

test("a list of 100,000 characters is read in a moment", () => {
  expect(matchesEntityTag(" ".repeat(100_000), '"abc"')).toBe(false);
  expect(matchesEntityTag(`"${"a".repeat(100_000)}`, '"abc"')).toBe(false);
});
