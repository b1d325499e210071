import { expect, test } from "bun:test";
import type { Inspection } from "../database/inspector.ts";
import { Counters } from "../serving/counters.ts";
import { DatabaseWatch } from "./database-watch.ts";
import type { WorkerReport } from "./messages.ts";

function create() {
  const inspectors: {
    inspect(id: number | null, reason?: string): void;
    exit(): void;
    wasKilled: boolean;
  }[] = [];
  const watch = new DatabaseWatch((onInspection: (inspection: Inspection) => void) => {
    const { promise: exited, resolve: exit } = Promise.withResolvers<void>();
    const inspect = (id: number | null, reason: string | null = null) =>
      onInspection({ newest: id === null ? null : { id, publishedAt: 0 }, reason });
    const inspector = { inspect, exit, wasKilled: false };
    inspectors.push(inspector);
    return {
      exited,
      kill() {
        inspector.wasKilled = true;
      },
    };
  });
  watch.tick(performance.now());
  return { watch, inspectors };
}

function serving(id: number | null, degradedReason: string | null = null): WorkerReport {
  const generation = id === null ? null : { id, publishedAt: 0 };
  return {
    counters: new Counters().read(),
    generation,
    degradedReason,
    eventLoopLagSeconds: 0,
    residentBytes: 1,
  };
}

test("a worker that serves what was the newest a moment ago is not behind", () => {
  const { watch, inspectors } = create();
  inspectors[0]?.inspect(1);
  inspectors[0]?.inspect(2);
  expect(watch.isBehind(serving(1), performance.now() + 1000)).toBe(false);
  expect(watch.describe([serving(2)], performance.now() + 3000)).toEqual([]);
});

test.each([
  [1, "generation 1"],
  [null, "no generation"],
])("a worker that goes on serving generation %p is behind, also while others are published", (id, words) => {
  const { watch, inspectors } = create();
  inspectors[0]?.inspect(1);
  const now = performance.now();
  expect(watch.isBehind(serving(null), now)).toBe(false);
  for (const newest of [2, 3, 4]) inspectors[0]?.inspect(newest);
  expect(watch.describe([serving(id)], now + 3000)).toEqual([
    `A worker serves ${words}; the newest in the database is 4`,
  ]);
});

test("a worker that says why it is behind needs no second reason", () => {
  const { watch, inspectors } = create();
  inspectors[0]?.inspect(1);
  inspectors[0]?.inspect(2);
  expect(watch.isBehind(serving(1, "Generation 2 is damaged"), performance.now() + 3000)).toBe(false);
});

test("a worker that serves a generation which the database lost is behind after a while", () => {
  const { watch, inspectors } = create();
  inspectors[0]?.inspect(3);
  const now = performance.now();
  expect(watch.isBehind(serving(5), now)).toBe(false); // perhaps published since the last look
  expect(watch.isBehind(serving(5), now + 3000)).toBe(true);
});

test("what is damaged is said", () => {
  const { watch, inspectors } = create();
  inspectors[0]?.inspect(1, "no such table: trending");
  expect(watch.describe([serving(1)], performance.now())).toEqual(["no such table: trending"]);
});

test("an inspector that hangs is said and replaced, and what it says later is not heard", () => {
  const { watch, inspectors } = create();
  inspectors[0]?.inspect(1);
  const now = performance.now();
  for (let passed = 0; passed <= 5000; passed += 1000) watch.tick(now + passed);
  expect(watch.describe([], now + 5000)).toEqual([
    "The check of the database does not end; the disk may hang",
  ]);
  for (let passed = 6000; passed <= 9000; passed += 1000) watch.tick(now + passed);
  expect(inspectors.map(({ wasKilled }) => wasKilled)).toEqual([true, false]);
  inspectors[0]?.inspect(1, "late");
  expect(watch.describe([], now + 9000)).toEqual([]);
});

test("generations that were published long ago are forgotten", () => {
  const { watch, inspectors } = create();
  for (let id = 1; id <= 300; id++) inspectors[0]?.inspect(id);
  expect(watch.isBehind(serving(1), performance.now() + 3000)).toBe(false); // as one that was never seen
  expect(watch.isBehind(serving(250), performance.now() + 3000)).toBe(true);
});
