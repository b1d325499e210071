import { beforeEach, expect, test } from "bun:test";
import { FailureBackoff } from "./failure-backoff.ts";

let now: number;
let backoff: FailureBackoff<string>;
beforeEach(() => {
  now = 1000;
  backoff = new FailureBackoff(5, () => now);
});

test.each([
  ["at once", 1000, { result: "failed", isBackingOff: true }],
  ["just before the back-off ends", 1004, { result: "failed", isBackingOff: true }],
  ["when the back-off has ended", 1005, { result: "failed", isBackingOff: false }],
  ["just before it is forgotten", 1064, { result: "failed", isBackingOff: false }],
  ["a minute after the back-off", 1065, null],
])("a failure is recalled %s", (_, time, expected) => {
  backoff.record("a", "failed");
  now = time;
  expect(backoff.recent("a")).toEqual(expected);
});

test("a key that never failed, and one that was cleared, have no failure", () => {
  backoff.record("a", "failed");
  backoff.clear("a");
  expect([backoff.recent("a"), backoff.recent("b")]).toEqual([null, null]);
});
