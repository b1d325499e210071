import { expect, test } from "bun:test";
import { backoffSeconds, readRetryAfter } from "./backoff.ts";

test.each([
  [1, 10],
  [2, 20],
  [3, 40],
  [5, 120],
  [100, 120],
])("after %p failures the wait is at random, below %p seconds", (failures, below) => {
  const waitAt = (share: number) => backoffSeconds(failures, 0, { seconds: 5, random: () => share });
  expect([waitAt(0), waitAt(0.5), waitAt(0.999)]).toEqual([0, below / 2, expect.closeTo(below * 0.999)]);
});

test("Retry-After is the shortest wait, within two minutes", () => {
  const waitFor = (retryAfter: number) => backoffSeconds(1, retryAfter, { seconds: 5, random: () => 0.5 });
  expect([0, 3, 60, 999_999_999].map(waitFor)).toEqual([5, 5, 60, 120]);
});

test.each([
  ["7", 7],
  ["Fri, 20 Nov 2026 12:00:30 GMT", 30],
  ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
  ["soon", 0],
  ["-5", 0],
  [null, 0],
])("Retry-After: %p is %p seconds", (field, seconds) => {
  expect(readRetryAfter(field, Date.parse("2026-11-20T12:00:00Z") / 1000)).toBe(seconds);
});
