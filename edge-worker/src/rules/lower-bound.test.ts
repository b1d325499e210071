import { expect, test } from "bun:test";
import { onlyBound, onlyUsable } from "./lower-bound.ts";

const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 };
const storedAt = (fetchedAt: number) => ({ generatedAt: 1000, fetchedAt, lifetimes });

test.each([
  ["just fetched", 1000, 1000, { isUsable: true, isBound: true }],
  ["of a clock that is a minute ahead", 1060, 1000, { isUsable: true, isBound: true }],
  ["of a clock that is further ahead", 1061, 1000, { isUsable: true, isBound: false }],
  ["past every lifetime", 1000, 1000 + 86_520, { isUsable: false, isBound: true }],
])("what is %s may be served, or bound what comes after it", (_, fetchedAt, now, expected) => {
  const stored = storedAt(fetchedAt);
  const found = { isUsable: onlyUsable(stored, now) === stored, isBound: onlyBound(stored, now) === stored };
  expect(found).toEqual(expected);
});

test("without a stored response there is no bound", () => {
  expect([onlyUsable(null, 0), onlyBound(null, 0)]).toEqual([null, null]);
});
