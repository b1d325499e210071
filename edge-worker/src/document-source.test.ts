import { beforeEach, expect, test } from "bun:test";
import { type Attempt, Backoff, FailureBackoff, SourceBreaker } from "./document-source.ts";

let now: number;
let breaker: SourceBreaker;
beforeEach(() => {
  now = 1000;
  breaker = new SourceBreaker({ lostSeconds: 10, clock: () => now });
});

const failure = { retryAfter: 0, isRefusal: false };
const refusal = { retryAfter: 0, isRefusal: true };

function end(attempt: Attempt | null, outcome: "success" | typeof failure): boolean {
  if (attempt === null) return false;
  if (outcome === "success") breaker.succeed(attempt);
  else breaker.fail(attempt, outcome);
  return true;
}

function ask(outcome: "success" | typeof failure): boolean {
  return end(breaker.begin(), outcome);
}

function askAtOnce(most: number): Attempt[] {
  return Array.from({ length: most }, () => breaker.begin()).filter((attempt) => attempt !== null);
}

function open(): void {
  for (let n = 0; n < 3; n++) ask(failure);
}

test("it opens after three failures in a row", () => {
  expect([ask(failure), ask(failure), ask("success"), ask(failure), ask(failure)]).not.toContain(false);
  expect(breaker.waitsUntil).toBeNull();
  ask(failure);
  expect([breaker.waitsUntil, ask("success")]).toEqual([1001, false]);
});

test("a failing source is asked by one request a second, however long it fails and however many ask", () => {
  open();
  for (const until = now + 300; now < until; ) {
    now += 1;
    const attempts = askAtOnce(50);
    expect(attempts).toHaveLength(1);
    for (const attempt of attempts) breaker.fail(attempt, failure);
    expect(breaker.waitsUntil).toBe(now + 1);
  }
});

test("each success lets twice as many be under way, until any number may be", () => {
  open();
  now += 1;
  const steps = [];
  while (breaker.waitsUntil === null && steps.length < 10) {
    const attempts = askAtOnce(100);
    steps.push(attempts.length);
    end(attempts[0] ?? null, "success");
    for (const attempt of attempts.slice(1)) end(attempt, refusal);
  }
  expect(steps).toEqual([1, 2, 4, 8, 16, 32, ...Array<number>(4).fill(100)]);
});

test("a failure on the way begins anew with one, and what was under way with it says nothing", () => {
  open();
  now += 1;
  ask("success");
  ask("success");
  const attempts = askAtOnce(10);
  expect([attempts.length, breaker.waitsUntil]).toEqual([4, now + 1]);
  end(attempts[0] ?? null, failure);
  for (const attempt of attempts.slice(1)) end(attempt, "success");
  now += 1;
  expect(askAtOnce(10)).toHaveLength(1);
});

test("a probe that is lost makes room for another", () => {
  open();
  now += 1;
  expect(askAtOnce(2)).toHaveLength(1);
  now += 9.9;
  expect(breaker.begin()).toBeNull();
  now += 0.1;
  expect(askAtOnce(2)).toHaveLength(1);
});

test("outcomes of requests that began before it opened change nothing", () => {
  const attempts = askAtOnce(40);
  for (const attempt of attempts.slice(0, 30)) breaker.fail(attempt, failure);
  for (const attempt of attempts.slice(30)) breaker.succeed(attempt);
  expect(breaker.waitsUntil).toBe(1001);
  now += 1;
  expect(askAtOnce(2)).toHaveLength(1);
});

test.each([
  [0.5, 1],
  [3, 3],
  [10, 10],
  [999_999, 10],
])("where Retry-After is %p it waits %p seconds: it is not signed", (retryAfter, wait) => {
  for (let n = 0; n < 3; n++) ask({ ...failure, retryAfter });
  expect(breaker.waitsUntil).toBe(now + wait);
});

test("refusals of requests do not open it", () => {
  for (let n = 0; n < 10; n++) expect(ask(refusal)).toBe(true);
});

test("a refused probe keeps it open, and a flood of bad requests does not delay the end", () => {
  open();
  for (let n = 0; n < 10; n++) {
    now = breaker.waitsUntil ?? now;
    expect(ask({ ...refusal, retryAfter: 60 })).toBe(true);
    expect(breaker.waitsUntil).toBe(now + 1);
  }
  now += 1;
  ask("success");
  expect(breaker.waitsUntil).toBeNull();
});

test("a clock that is set back does not keep the source from being asked", () => {
  now += 300;
  open();
  expect(breaker.waitsUntil).toBe(1301);
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
  expect([measure(), measure(), measure()]).toEqual([5, 10, 15]);
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
  [3, 30],
  [100, 30],
])("after %p failures the wait is at random, below %p seconds", (failures, below) => {
  const waitAt = (share: number) => new Backoff(5, () => share).secondsAfter(failures);
  expect([waitAt(0), waitAt(0.5), waitAt(0.999)]).toEqual([0, below / 2, expect.closeTo(below * 0.999)]);
});

test("Retry-After is the shortest wait, within half a minute", () => {
  const waitFor = (retryAfter: number) => new Backoff(5, () => 0.5).secondsAfter(1, retryAfter);
  expect([0, 3, 30, 999_999_999].map(waitFor)).toEqual([5, 5, 30, 30]);
});
