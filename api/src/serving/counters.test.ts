import { expect, test } from "bun:test";
import { problems } from "@trendvault/contract/problem";
import { Counters, counterIndex, latencyBounds, sumCounters } from "./counters.ts";

test("every status of the vocabulary can be counted", () => {
  for (const { status } of Object.values(problems))
    expect(counterIndex("trending", status)).toBeGreaterThan(0);
});

test("what two workers counted adds up", () => {
  const [one, other] = [new Counters(), new Counters()];
  one.served(counterIndex("trending", 200), 100);
  one.served(counterIndex("trending", 304), 0);
  other.served(counterIndex("trending", 200), 50);
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
