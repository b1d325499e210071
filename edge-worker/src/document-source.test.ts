import { beforeEach, expect, test } from "bun:test";
import { Backoff, FailureBackoff, SourceBreaker } from "./document-source.ts";

let now: number;
let breaker: SourceBreaker;
beforeEach(() => {
  now = 1000;
  breaker = new SourceBreaker({ backoff: new Backoff(5, () => 0.5), probeSeconds: 10, clock: () => now });
});

const failure = { retryAfter: 0, isRefusal: false };

function ask(outcome: "success" | typeof failure): boolean {
  const mayAsk = breaker.begin();
  if (!mayAsk) return false;
  if (outcome === "success") breaker.succeed();
  else breaker.fail(outcome);
  return true;
}

test("it opens after three failures in a row", () => {
  expect([ask(failure), ask(failure), ask("success"), ask(failure), ask(failure)]).not.toContain(false);
  expect(breaker.waitsUntil).toBeNull();
  ask(failure);
  expect([breaker.waitsUntil, ask("success")]).toEqual([1005, false]);
});

test("a failing origin is asked ever less, and by one request at a time", () => {
  const asked: number[] = [];
  for (; now < 1600; now++) {
    const probes = [breaker.begin(), breaker.begin(), breaker.begin()].filter(Boolean);
    for (const _ of probes) breaker.fail(failure);
    if (probes.length > 0) asked.push(probes.length);
  }
  expect(asked).toEqual([3, ...Array<number>(asked.length - 1).fill(1)]);
  expect(asked.length).toBeLessThan(14); // 5, 10, 20, 40, 60, 60 … seconds apart
});

test("one success closes it for all", () => {
  for (let n = 0; n < 5; n++) ask(failure);
  now = 1005;
  expect(breaker.begin()).toBe(true);
  expect([breaker.begin(), breaker.waitsUntil]).toEqual([false, 1015]); // the probe is under way
  breaker.succeed();
  expect([breaker.waitsUntil, breaker.begin(), breaker.begin()]).toEqual([null, true, true]);
});

test("a probe that is lost makes room for another", () => {
  for (let n = 0; n < 3; n++) ask(failure);
  now = 1005;
  breaker.begin();
  now = 1015;
  expect(breaker.begin()).toBe(true);
});

test("failures of requests that began before it opened do not make it wait longer", () => {
  for (let n = 0; n < 40; n++) breaker.begin();
  for (let n = 0; n < 40; n++) breaker.fail(failure);
  expect(breaker.waitsUntil).toBe(1005);
});

test("it waits as long as the origin asks for", () => {
  for (let n = 0; n < 3; n++) ask({ ...failure, retryAfter: 30 });
  expect(breaker.waitsUntil).toBe(1030);
});

const refusal = { retryAfter: 0, isRefusal: true };

test("refusals of requests do not open it", () => {
  for (let n = 0; n < 10; n++) expect(ask(refusal)).toBe(true);
});

test("a refused probe keeps it open, and another one follows soon: a flood of bad requests does not delay the end", () => {
  for (let n = 0; n < 3; n++) ask(failure);
  for (let n = 0; n < 10; n++) {
    now = breaker.waitsUntil ?? now;
    ask(refusal);
    expect(breaker.waitsUntil).toBe(now + 5);
  }
  now += 5;
  ask("success");
  expect(breaker.waitsUntil).toBeNull();
});

test("a clock that is set back does not keep the source from being asked", () => {
  now += 300;
  for (let n = 0; n < 3; n++) ask(failure);
  expect(breaker.waitsUntil).toBe(1305);
  now -= 300;
  expect([breaker.waitsUntil, ask("success")]).toEqual([null, true]);
});

let backoff: FailureBackoff<string>;
beforeEach(() => {
  now = 1000;
  backoff = new FailureBackoff(new Backoff(5, () => 0.5), () => now);
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

test.each([
  [1, 10],
  [2, 20],
  [3, 40],
  [5, 120],
  [100, 120],
])("after %p failures the wait is at random, below %p seconds", (failures, below) => {
  const waitAt = (share: number) => new Backoff(5, () => share).secondsAfter(failures);
  expect([waitAt(0), waitAt(0.5), waitAt(0.999)]).toEqual([0, below / 2, expect.closeTo(below * 0.999)]);
});

test("Retry-After is the shortest wait, within two minutes", () => {
  const waitFor = (retryAfter: number) => new Backoff(5, () => 0.5).secondsAfter(1, retryAfter);
  expect([0, 3, 60, 999_999_999].map(waitFor)).toEqual([5, 5, 60, 120]);
});
