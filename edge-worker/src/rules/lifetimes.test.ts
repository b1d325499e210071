import { expect, test } from "bun:test";
import { answerLifetimes, missingLifetimes } from "@trendvault/contract/lists";
import { browserSeconds, readLifetimes, usableSeconds } from "./lifetimes.ts";

test("what the origin sends is read", () => {
  const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 };
  expect(readLifetimes(answerLifetimes)).toEqual(lifetimes);
  expect([usableSeconds(lifetimes), browserSeconds(lifetimes)]).toEqual([86_520, 30]);
  const missing = { maxAge: 60, staleWhileRevalidate: 0, staleIfError: 0 };
  expect(readLifetimes(missingLifetimes)).toEqual(missing);
  expect(usableSeconds(missing)).toBe(60);
});

test("upper case and missing blanks make no difference", () => {
  expect(readLifetimes("Max-Age=12,Stale-If-Error=5")).toEqual({
    maxAge: 12,
    staleWhileRevalidate: 0,
    staleIfError: 5,
  });
});

test("no response is used for longer than an hour, or a day while the origin fails", () => {
  const forEver = "max-age=999999999, stale-while-revalidate=999999999, stale-if-error=999999999";
  const longest = { maxAge: 3600, staleWhileRevalidate: 3600, staleIfError: 86_400 };
  expect(readLifetimes(forEver)).toEqual(longest);
});

test("a browser does not use it for longer than a cache", () => {
  expect(browserSeconds({ maxAge: 2, staleWhileRevalidate: 0, staleIfError: 0 })).toBe(2);
});

test.each([
  ["nothing", ""],
  ["no-store", "no-store, max-age=120"],
  ["private", "private, max-age=30"],
  ["no-cache", "no-cache, max-age=30"],
  ["a lifetime that is not a number", "max-age=soon"],
  ["a negative lifetime", "max-age=-1"],
])("%s: may not be kept", (_, field) => {
  expect(readLifetimes(field)).toBeNull();
});
