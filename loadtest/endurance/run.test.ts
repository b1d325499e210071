import { expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import { planEvents } from "./run.ts";

const kinds = ["a", "b", "c"] as const;
const plan = (seconds: number, seed = 1) => planEvents(seconds, { kinds, random: new Random(seed) });

test("the shortest run has an event in each minute but those at its ends", () => {
  const events = plan(1200);
  expect(events).toHaveLength(16);
  const seconds = events.map(({ second }) => second);
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(120);
  expect(Math.max(...seconds)).toBeLessThan(1200 - 120);
  expect(seconds).toEqual(seconds.toSorted((left, right) => left - right));
});

test("each kind comes once before any comes again", () => {
  const drawn = plan(1200).map(({ kind }) => kind);
  for (let first = 0; first + kinds.length <= drawn.length; first += kinds.length)
    expect(drawn.slice(first, first + kinds.length).toSorted()).toEqual([...kinds]);
});

test("a seed repeats a plan, and another one makes another", () => {
  expect(plan(3600, 5)).toEqual(plan(3600, 5));
  expect(plan(3600, 5)).not.toEqual(plan(3600, 6));
});
