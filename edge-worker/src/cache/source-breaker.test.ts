import { beforeEach, expect, test } from "bun:test";
import { SourceBreaker } from "./source-breaker.ts";

let now: number;
let breaker: SourceBreaker;
beforeEach(() => {
  now = 1000;
  breaker = new SourceBreaker({ seconds: 5, random: () => 0.5, probeSeconds: 10, clock: () => now });
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
