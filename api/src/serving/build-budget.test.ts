import { expect, test } from "bun:test";
import { BuildBudget } from "./build-queue.ts";

test("what one packet may ask for is built at once, and of a flood a bounded number", () => {
  let now = 0;
  const budget = new BuildBudget(() => now);
  const take = (count: number) => Array.from({ length: count }, () => budget.take()).filter(Boolean).length;
  expect(take(1000)).toBe(128);
  now += 1000;
  expect(take(1000)).toBe(10);
  now += 10_000;
  expect([budget.take(8), budget.take(64), budget.take(64)]).toEqual([true, true, false]);
  now += 20_000;
  expect(take(1000)).toBe(128);
});
