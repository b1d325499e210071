import { expect, test } from "bun:test";
import { Random } from "@trendvault/contract/test-support/random";
import { describeStep, drawClockStep, mayRefuse } from "./clock-steps.ts";

const draw = (count: number, seed = 1) => {
  const random = new Random(seed);
  return Array.from({ length: count }, () => drawClockStep(random));
};

test("clocks are moved in both directions, by seconds and by minutes, and for less than half a minute", () => {
  const steps = draw(400);
  const sizes = new Set(steps.map(({ seconds }) => seconds));
  expect([...sizes].toSorted((left, right) => left - right)).toEqual([-300, -90, -30, -2, 2, 30, 90, 300]);
  const held = steps.map(({ heldSeconds }) => heldSeconds);
  expect([Math.min(...held), Math.max(...held)]).toEqual([8, 24]);
});

test("a seed repeats the steps", () => {
  expect(draw(20, 7)).toEqual(draw(20, 7));
  expect(draw(20, 7)).not.toEqual(draw(20, 8));
});

test("only an origin whose clock is wrong by more than a minute may refuse anybody", () => {
  const may = (part: "writer" | "origin" | "edge", seconds: number) =>
    mayRefuse(part, { seconds, heldSeconds: 10 });
  expect([may("origin", 90), may("origin", -300)]).toEqual([true, true]);
  expect([may("origin", 30), may("origin", -30), may("edge", 300), may("writer", -300)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("a step is described by its sign, its size and how long it lasts", () => {
  expect(describeStep({ seconds: -90, heldSeconds: 12 })).toBe("−90 s for 12 s");
  expect(describeStep({ seconds: 2, heldSeconds: 8 })).toBe("+2 s for 8 s");
});
