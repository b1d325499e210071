import { expect, test } from "bun:test";
import { TwoGenerationCache } from "./response-cache.ts";

function cacheOf(capacity: number) {
  let evictions = 0;
  const cache = new TwoGenerationCache<{ weight: number }>(capacity, {
    weigh: ({ weight }) => weight,
    onEvict: () => evictions++,
  });
  const total = () => [...cache.values()].reduce((sum, { weight }) => sum + weight, 0);
  return { cache, total, evictions: () => evictions };
}

test("its weight stays bounded under a flood", () => {
  const { cache, total } = cacheOf(100);
  for (let i = 0; i < 10_000; i++) {
    cache.set(`key ${i}`, { weight: 1 + (i % 7) });
    expect(total()).toBeLessThanOrEqual(100 + 7);
  }
});

test("what is looked up again and again survives the flood", () => {
  const { cache } = cacheOf(100);
  const hot = { weight: 1 };
  cache.set("hot", hot);
  for (let i = 0; i < 1000; i++) {
    cache.set(`cold ${i}`, { weight: 5 });
    expect(cache.get("hot")).toBe(hot);
  }
  expect(cache.get("cold 0")).toBeUndefined();
});

test("a value that became heavier counts with its new weight, and an eviction is reported", () => {
  const { cache, total, evictions } = cacheOf(100);
  const value = { weight: 1 };
  cache.set("key", value);
  value.weight = 40;
  cache.set("key", value);
  cache.set("key", value);
  expect([total(), evictions()]).toEqual([40, 0]);
  cache.set("other", { weight: 20 });
  expect(evictions()).toBe(1);
});
