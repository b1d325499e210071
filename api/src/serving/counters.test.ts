import { expect, test } from "bun:test";
import { Counters, latencyBounds, sumCounters } from "./counters.ts";

test("what two workers counted adds up", () => {
  const [one, other] = [new Counters(), new Counters()];
  Object.assign(one.tallies.trending, { ok: 1, notModified: 1, bytes: 100 });
  Object.assign(other.tallies.trending, { ok: 1, bytes: 50 });
  other.misses++;
  other.count("none", 404);
  one.observe(0.00002);
  other.observe(7);
  other.built(0.5);
  const sum = sumCounters([one.snapshot(), other.snapshot()]);
  expect(sum.requests).toEqual({ "trending 200": 2, "trending 304": 1, "none 404": 1 });
  expect(sum).toMatchObject({ hits: 2, misses: 1, builds: 1, buildSeconds: 0.5, bytes: 150 });
  expect(sum.latency.buckets).toHaveLength(latencyBounds.length + 1);
  expect([sum.latency.buckets[1], sum.latency.buckets.at(-1)]).toEqual([1, 1]);
});
