import { beforeEach, expect, test } from "bun:test";
import { FailureBackoff } from "./failure-backoff.ts";

let now: number;
let backoff: FailureBackoff<string>;
beforeEach(() => {
  now = 1000;
  backoff = new FailureBackoff({ seconds: 5, random: () => 0.5 }, () => now);
});

test.each([
  ["at once", 1000, { result: "failed", isBackingOff: true }],
  ["just before the back-off ends", 1004, { result: "failed", isBackingOff: true }],
  ["when the back-off has ended", 1005, { result: "failed", isBackingOff: false }],
  ["just before it is forgotten", 1064, { result: "failed", isBackingOff: false }],
  ["a minute after the back-off", 1065, null],
])("a failure is recalled %s", (_, time, expected) => {
  backoff.record("a", "failed", 0);
  now = time;
  expect(backoff.recent("a")).toEqual(expected);
});

test("with each failure in a row the back-off becomes longer, until one succeeds or a minute has passed", () => {
  const measure = () => {
    backoff.record("a", "failed", 0);
    const begun = now;
    while (backoff.recent("a")?.isBackingOff) now++;
    return now - begun;
  };
  expect([measure(), measure(), measure()]).toEqual([5, 10, 20]);
  backoff.clear("a");
  expect([measure(), measure()]).toEqual([5, 10]);
  now += 60;
  expect(measure()).toBe(5);
});

test("it is at least as long as the origin asks for", () => {
  backoff.record("a", "failed", 30);
  now += 29;
  expect(backoff.recent("a")?.isBackingOff).toBe(true);
});

test("what was not tried waits, and does not count as a failure", () => {
  backoff.hold("a", "held", 1020);
  now = 1019;
  expect(backoff.recent("a")).toEqual({ result: "held", isBackingOff: true });
  now = 1020;
  backoff.record("a", "failed", 0);
  now = 1025;
  expect(backoff.recent("a")?.isBackingOff).toBe(false);
});

test("a key that never failed, and one that was cleared, have no failure", () => {
  backoff.record("a", "failed", 0);
  backoff.clear("a");
  expect([backoff.recent("a"), backoff.recent("b")]).toEqual([null, null]);
});

test("a clock that is set back ends a back-off, and does not make it longer", () => {
  now += 300;
  backoff.record("a", "failed", 0);
  expect(backoff.recent("a")?.isBackingOff).toBe(true);
  now -= 300;
  expect(backoff.recent("a")).toBeNull();
});
