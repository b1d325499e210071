import { expect, test } from "bun:test";
import { generationMark, generationMarkOf } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import type { GenerationMark, Inspection } from "../database/inspector.ts";
import { Counters } from "../serving/counters.ts";
import { DatabaseWatch } from "./database-watch.ts";
import type { WorkerReport } from "./messages.ts";

function create({ endsWhenKilled = false } = {}) {
  const inspectors: {
    inspect(id: number | null, reason?: string | null, whole?: string | null): void;
    say(newest: GenerationMark): void;
    exit(): void;
    wasKilled: boolean;
  }[] = [];
  let now = 1000;
  let files: Promise<string> = Promise.resolve("as at the start");
  const start = (onInspection: (inspection: Inspection) => void) => {
    const { promise: exited, resolve: exit } = Promise.withResolvers<void>();
    const inspect = (id: number | null, reason: string | null = null, whole: string | null = null) =>
      onInspection({ newest: id === null ? null : generationMark(id), reason, whole });
    const say = (newest: GenerationMark) => onInspection({ newest, reason: null, whole: null });
    const inspector = { inspect, say, exit, wasKilled: false };
    inspectors.push(inspector);
    return {
      exited,
      kill() {
        inspector.wasKilled = true;
        if (endsWhenKilled) exit();
      },
    };
  };
  const watch = new DatabaseWatch({ start, describeFiles: () => files, clock: () => now });
  watch.tick(now);
  /** Half a second after the other, as Lead does. */
  const pass = (milliseconds: number) => {
    for (const end = now + milliseconds; now < end; ) {
      now += Math.min(500, end - now);
      watch.tick(now);
    }
  };
  return {
    inspectors,
    pass,
    inspect: (id: number | null, reason?: string) => inspectors.at(-1)?.inspect(id, reason),
    isBehind: (report: WorkerReport) => watch.isBehind(report, now),
    restart: () => watch.restart(),
    describe: (...reports: WorkerReport[]) => watch.describe(reports, now),
    /** What the files of the database are from now on; "hung" when the disk does not say it. */
    change(to: string) {
      files = to === "hung" ? new Promise(() => {}) : Promise.resolve(to);
    },
    /** Until the inspector has found the files whole for so long that it is ended. */
    async settle(id: number) {
      for (let look = 0; look < 7; look++) {
        inspectors.at(-1)?.inspect(id, null, "as at the start");
        pass(1000);
      }
      await new Promise(setImmediate);
    },
    /** As `pass`; what was asked of the files is answered meanwhile. */
    async wait(milliseconds: number) {
      for (const end = now + milliseconds; now < end; await new Promise(setImmediate)) pass(500);
    },
    /** As if the process was stopped. */
    sleep(milliseconds: number) {
      now += milliseconds;
    },
  };
}

function serving(id: number | null, degradedReason: string | null = null): WorkerReport {
  const generation = id === null ? null : generationMark(id);
  return {
    counters: new Counters().read(),
    generation,
    degradedReason,
    eventLoopLagSeconds: 0,
    residentBytes: 1,
    connections: 0,
    slot: 0,
    pid: 1,
    answered: 0,
  };
}

test("a worker that serves what was the newest a moment ago is not behind", () => {
  const { inspect, isBehind, describe, pass } = create();
  inspect(1);
  inspect(2);
  pass(1000);
  expect(isBehind(serving(1))).toBe(false);
  inspect(2);
  pass(1500);
  expect(describe(serving(2))).toEqual([]);
});

test.each([
  [1, "generation 1"],
  [null, "no generation"],
])("a worker that goes on serving generation %p is behind, also while others are published", (id, words) => {
  const { inspect, isBehind, describe, pass } = create();
  inspect(1);
  expect(isBehind(serving(null))).toBe(false);
  for (const newest of [2, 3, 4]) {
    pass(1000);
    inspect(newest);
  }
  expect(describe(serving(id))).toEqual([`A worker serves ${words}; the newest in the database is 4`]);
});

test("a worker that goes on serving a generation when the database has none is behind", () => {
  const { inspect, describe, pass } = create();
  inspect(null);
  expect(describe(serving(null))).toEqual([]);
  expect(describe(serving(2))).toEqual([]); // perhaps published since the last look
  pass(2500);
  inspect(null);
  expect(describe(serving(2))).toEqual(["A worker serves generation 2; there is none in the database"]);
});

test("a worker that serves no generation has time to see the first one", () => {
  const { inspect, isBehind, pass } = create();
  inspect(null);
  pass(3000);
  inspect(null);
  inspect(1);
  expect(isBehind(serving(null))).toBe(false);
  pass(1500);
  inspect(1);
  expect(isBehind(serving(null))).toBe(false);
  pass(1000);
  inspect(1);
  expect(isBehind(serving(null))).toBe(true);
});

test.each([[null], [1]])(
  "after a pause of all processes, a worker that has followed from %p to 2 is not behind",
  (before) => {
    const { inspect, isBehind, pass, sleep } = create();
    inspect(before);
    expect(isBehind(serving(2))).toBe(false);
    sleep(2600);
    pass(500);
    expect(isBehind(serving(2))).toBe(false);
  },
);

test("a worker that serves no generation again has time to see the next one", () => {
  const { inspect, isBehind, pass } = create();
  inspect(1);
  expect(isBehind(serving(null))).toBe(false); // it has just started
  for (const [newest, served] of [
    [1, 1],
    [null, null],
  ] as const) {
    for (let second = 0; second < 5; second++) {
      pass(1000);
      inspect(newest);
      expect(isBehind(serving(served))).toBe(false);
    }
  }
  inspect(2);
  expect(isBehind(serving(null))).toBe(false);
});

test("what a worker served before the first look counts for nothing", () => {
  const { inspect, isBehind, pass } = create();
  expect(isBehind(serving(1))).toBe(false);
  pass(1900);
  inspect(null);
  expect(isBehind(serving(1))).toBe(false);
  pass(1900);
  inspect(null);
  expect(isBehind(serving(1))).toBe(false);
});

test("a worker is behind a generation that was read, also when something else is damaged", () => {
  const { inspect, isBehind, pass } = create();
  inspect(1);
  inspect(2, "A part cannot be read");
  pass(2500);
  inspect(2, "A part cannot be read");
  expect(isBehind(serving(1))).toBe(true);
});

test("no worker is behind a database of which nothing could be read yet", () => {
  const { inspect, describe, pass } = create();
  for (const _ of [1, 2, 3]) {
    inspect(null, "It is locked");
    expect(describe(serving(2))).toEqual(["It is locked"]);
    pass(2000);
  }
});

test("a worker that follows only one of two writers is behind", () => {
  const { inspectors, describe, pass } = create();
  const newest = (german: number) => generationMarkOf(generationMark(256), generationMark(german));
  inspectors.at(-1)?.say(newest(1));
  const report = { ...serving(256), generation: newest(1) };
  expect(describe(report)).toEqual([]);
  for (const _ of [1, 2, 3]) {
    pass(1000);
    inspectors.at(-1)?.say(newest(257));
  }
  expect(describe(report)).toEqual([
    "A worker serves generation 1 and 256; the newest in the database is 256 and 257",
  ]);
});

test("a worker that says why it is behind needs no second reason", () => {
  const { inspect, isBehind, pass } = create();
  inspect(1);
  pass(3000);
  inspect(2);
  expect(isBehind(serving(1))).toBe(true);
  expect(isBehind(serving(1, "Generation 2 is damaged"))).toBe(false);
});

test("a worker that serves a generation which the database lost is behind after a while", () => {
  const { inspect, isBehind, pass } = create();
  inspect(3);
  expect(isBehind(serving(5))).toBe(false); // perhaps published since the last look
  pass(2500);
  inspect(3);
  expect(isBehind(serving(5))).toBe(true);
});

test("what is damaged is said", () => {
  const { inspect, describe } = create();
  inspect(1, "no such table: trending");
  expect(describe(serving(1))).toEqual(["no such table: trending"]);
});

const noResult = "The check of the database gives no result; its process or the disk may hang";

test("an inspector that hangs is said and replaced, and what it says later is not heard", async () => {
  const { inspectors, inspect, describe, pass } = create();
  inspect(1);
  pass(4000);
  expect(describe()).toEqual([noResult]);
  pass(1000);
  inspectors[0]?.exit();
  await new Promise(setImmediate);
  pass(500);
  expect(inspectors.map(({ wasKilled }) => wasKilled)).toEqual([true, false]);
  inspectors[0]?.inspect(1, "late");
  expect(describe()).toEqual([noResult]);
  inspect(1);
  expect(describe()).toEqual([]);
});

test("an inspector that cannot end, because the disk hangs, stays the only one", () => {
  const { inspectors, pass } = create();
  pass(600_000);
  expect(inspectors.map(({ wasKilled }) => wasKilled)).toEqual([true]);
});

test("an inspector that ends before it has said anything is started again, and that is said", async () => {
  const { inspectors, describe, pass } = create();
  inspectors[0]?.exit();
  await until(() => {
    pass(500);
    return inspectors.length === 2;
  });
  pass(4000);
  expect(describe()).toEqual([noResult]);
});

test("an inspector that has read all is ended, and readiness stays true as long as nothing is written", async () => {
  const { inspectors, describe, settle, wait } = create({ endsWhenKilled: true });
  await settle(1);
  await wait(200_000);
  expect(inspectors.map(({ wasKilled }) => wasKilled)).toEqual([true]);
  expect(describe(serving(1))).toEqual([]);
});

test("after a write another inspector reads, and a worker that does not follow is behind", async () => {
  const { inspectors, inspect, describe, change, settle, wait } = create({ endsWhenKilled: true });
  await settle(1);
  change("written");
  await wait(1000);
  expect(inspectors.length).toBe(2);
  for (const _ of [1, 2, 3]) {
    inspect(2);
    await wait(1000);
  }
  expect(describe(serving(1))).toEqual(["A worker serves generation 1; the newest in the database is 2"]);
});

test("when a worker serves what the last look did not find, the file is read again", async () => {
  const { inspectors, inspect, describe, isBehind, settle, wait } = create({ endsWhenKilled: true });
  await settle(1);
  expect(isBehind(serving(2))).toBe(false);
  await wait(1000);
  expect(inspectors.length).toBe(2);
  inspect(2); // the write was too close to the last look to change the files' times
  expect(describe(serving(2))).toEqual([]);
});

test("all is read again after five minutes: the disk may have changed it", async () => {
  const { inspectors, settle, wait } = create({ endsWhenKilled: true });
  await settle(1);
  await wait(301_000);
  expect(inspectors.length).toBe(2);
});

test("a disk that hangs is said while no inspector runs", async () => {
  const { describe, change, settle, wait } = create({ endsWhenKilled: true });
  await settle(1);
  change("hung");
  await wait(5000);
  expect(describe(serving(1))).toEqual([noResult]);
});

test("after SIGHUP another inspector reads all again", async () => {
  const { inspectors, restart, settle, wait } = create({ endsWhenKilled: true });
  await settle(1);
  restart();
  await wait(1000);
  expect(inspectors.length).toBe(2);
});

test("an old look of an inspector that hangs says nothing against a worker", () => {
  const { inspect, isBehind, pass } = create();
  inspect(2);
  for (let passed = 0; passed < 10_000; passed += 100) {
    pass(100);
    expect(isBehind(serving(1))).toBe(false); // restored since
  }
});

test("after a pause of this process itself, the inspector has time to report", () => {
  const { inspectors, inspect, describe, pass, sleep } = create();
  inspect(1);
  sleep(60_000);
  pass(500);
  expect(describe()).toEqual([]);
  expect(inspectors.map(({ wasKilled }) => wasKilled)).toEqual([false]);
});

test("generations that were published long ago are forgotten", () => {
  const { inspect, isBehind, pass } = create();
  for (let id = 1; id <= 300; id++) inspect(id);
  pass(3000);
  inspect(300);
  expect(isBehind(serving(1))).toBe(false); // as one that was never seen
  expect(isBehind(serving(250))).toBe(true);
});
