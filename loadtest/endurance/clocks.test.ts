import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { Random } from "@trendvault/kit/random";
import { Clock, drawClockStep, findUnmoved, type Part } from "./clocks.ts";

const parts = ["writer", "origin", "edge"] as const;

const drawSteps = (count: number, { seed = 1, part = "writer" as Part } = {}) => {
  const random = new Random(seed);
  return Array.from({ length: count }, () => drawClockStep(part, random));
};

test("clocks are moved in both directions, by seconds and by minutes, and for less than half a minute", () => {
  const steps = drawSteps(400);
  const sizes = new Set(steps.map(({ seconds }) => seconds));
  expect([...sizes].toSorted((left, right) => left - right)).toEqual([-300, -90, -30, -2, 2, 30, 90, 300]);
  const held = steps.map(({ heldSeconds }) => heldSeconds);
  expect([Math.min(...held), Math.max(...held)]).toEqual([8, 24]);
});

test("a seed repeats the steps", () => {
  expect(drawSteps(20, { seed: 7 })).toEqual(drawSteps(20, { seed: 7 }));
  expect(drawSteps(20, { seed: 7 })).not.toEqual(drawSteps(20, { seed: 8 }));
});

test("only an origin whose clock is wrong by more than a minute may refuse anybody", () => {
  const refusing = (part: Part) =>
    new Set(drawSteps(400, { part }).flatMap(({ seconds, mayRefuse }) => (mayRefuse ? [seconds] : [])));
  expect(refusing("origin")).toEqual(new Set([90, -300, -90, 300]));
  expect([refusing("edge").size, refusing("writer").size]).toEqual([0, 0]);
});

test("generations are ahead where the writer's clock is by more than a minute, or the origin's behind by as much", () => {
  const ahead = (part: Part) =>
    new Set(drawSteps(400, { part }).flatMap(({ seconds, isAhead }) => (isAhead ? [seconds] : [])));
  expect(ahead("writer")).toEqual(new Set([90, 300]));
  expect(ahead("origin")).toEqual(new Set([-90, -300]));
  expect(ahead("edge").size).toBe(0);
});

test("a step is described by its sign, its size and how long it lasts", () => {
  for (const { seconds, heldSeconds, description } of drawSteps(100))
    expect(description).toBe(`${seconds > 0 ? "+" : "−"}${Math.abs(seconds)} s for ${heldSeconds} s`);
});

let folder = "";
const pathOf = (part: Part) => join(folder, part);
const offsetOf = (part: Part) => Number(readFileSync(pathOf(part), "utf8"));

function makeClocks() {
  folder = newFolder("clocks");
  const of = (part: Part) => new Clock(pathOf(part));
  const remove = () => rmSync(folder, { recursive: true });
  return { writer: of("writer"), origin: of("origin"), edge: of("edge"), remove };
}

test("a part that takes no notice of its clock is named, and all clocks are right again", async () => {
  const clocks = makeClocks();
  const now = () => performance.now() / 1000;
  const read = {
    writer: async () => now() + offsetOf("writer"),
    origin: async () => now(),
    edge: async () => now() + offsetOf("edge"),
  };
  const unmoved = await findUnmoved(clocks, read, { pauseMs: 0, tries: 3 });
  expect(unmoved.parts).toEqual(["origin"]);
  expect(unmoved.sentences.join()).toStartWith("The origin's clock was not moved");
  expect(parts.map(offsetOf)).toEqual([0, 0, 0]);
  clocks.remove();
});

test("without libfaketime nothing is moved, and the result says why", async () => {
  const read = { writer: async () => 0, origin: async () => 0, edge: async () => 0 };
  expect(await findUnmoved("there is no apt here", read)).toEqual({
    parts: [...parts],
    sentences: ["No clock was moved: there is no apt here"],
  });
});

test("a clock's file says how far it is from the truth, with a sign", () => {
  const clocks = makeClocks();
  const said = (seconds: number) => {
    clocks.edge.moveBy(seconds);
    return readFileSync(pathOf("edge"), "utf8");
  };
  expect([said(0), said(90), said(-300)]).toEqual(["+0\n", "+90\n", "-300\n"]);
  clocks.remove();
});
