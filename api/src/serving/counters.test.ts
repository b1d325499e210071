import { expect, test } from "bun:test";
import { Counters, latencyBounds, sumCounters } from "./counters.ts";

test("what was sent from the cache and what was not are counted by route and status", () => {
  const counters = new Counters();
  Object.assign(counters.byRoute.trending, { ok: 2, notModified: 1, bytes: 100 });
  Object.assign(counters.byRoute.video, { ok: 1, bytes: 50 });
  counters.misses++;
  counters.count("none", 404);
  counters.countBuild(0.5);
  const values = counters.read();
  expect(values.requests).toEqual({ "trending 200": 2, "trending 304": 1, "video 200": 1, "none 404": 1 });
  expect(values).toMatchObject({ hits: 3, misses: 1, builds: 1, buildSeconds: 0.5, bytes: 150 });
});

test("a duration is in the first bucket whose bound it does not exceed", () => {
  const counters = new Counters();
  for (const seconds of [0.00002, 0.00005, 7]) counters.observe(seconds);
  const { buckets, sum } = counters.read().latency;
  expect(buckets).toHaveLength(latencyBounds.length + 1);
  expect([buckets[1], buckets.at(-1), sum]).toEqual([2, 1, 7.00007]);
});

test("two workers together have counted what one that did the work of both had", () => {
  const [left, right, both] = [new Counters(), new Counters(), new Counters()];
  for (const [index, counters] of [left, right, left].entries())
    for (const each of [counters, both]) {
      each.count(index === 1 ? "none" : "trending", 400);
      each.byRoute.video.ok += 1 + index;
      each.byRoute.video.bytes += 10;
      each.misses++;
      each.countBuild(0.25);
      each.observe(0.0625 * 4 ** index);
    }
  expect(sumCounters(left.read(), right.read())).toEqual(both.read());
});
