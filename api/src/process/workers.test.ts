import { expect, test } from "bun:test";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { Counters, type CounterValues } from "../serving/counters.ts";
import type { WorkerReport } from "./messages.ts";
import { Workers } from "./workers.ts";

type Status = Parameters<Workers["complete"]>[0];

function status(requests = 0, changes: Partial<Status> = {}): Status {
  const counters = { ...new Counters().read(), requests: { "trending 200": requests }, builds: requests };
  const well = { generation: null, degradedReason: null, eventLoopLagSeconds: 0 };
  return { ...well, counters, residentBytes: 1, connections: 0, ...changes };
}

/** Of a worker that none was before in its slot. */
function report(slot: number, pid: number, requests = 0, changes: Partial<Status> = {}): WorkerReport {
  return { ...status(requests, changes), slot, pid, answered: requests };
}

const own = { slot: 0, pid: 10 };

/** Two are wanted, and the first one asks; the test sets the clock. */
function createWorkers() {
  const clock = { now: 0 };
  return { clock, workers: new Workers(own, 2, () => clock.now) };
}

function requestsOf(counters: CounterValues | null): number {
  return counters?.requests["trending 200"] ?? 0;
}

/** Requests that all workers have counted, those that are gone included. */
function sumRequests({ reports, goneCounters }: Workers): number {
  return reports.reduce((sum, { counters }) => sum + requestsOf(counters), requestsOf(goneCounters));
}

const missing = "Only 1 of 2 workers are running; another one is started";
const silent = (pid: number) => `Worker ${pid} does not report; it is replaced when that lasts`;

test("a worker is said that has not reported for two seconds, until it reports", () => {
  const { clock, workers } = createWorkers();
  workers.receive({ report: report(1, 11) });
  for (const now of [0, 1000, 1900, 2000]) {
    clock.now = now;
    workers.complete(status());
    expect(workers.describe(now)).toEqual([]);
  }
  expect(workers.describe(2001)).toEqual([silent(11)]);
  workers.receive({ report: report(1, 11) });
  expect(workers.describe(2100)).toEqual([]);
});

test("after a pause of this process itself, workers have time to report", () => {
  const { workers } = createWorkers();
  workers.complete(status());
  workers.receive({ report: report(1, 11) });
  for (const now of [0, 60_000, 61_000, 62_000]) expect(workers.describe(now)).toEqual([]);
  expect(workers.describe(62_001)).toEqual([silent(10), silent(11)]);
});

test("a worker that is missing is said until its successor reports, and not as a silent one", () => {
  const { clock, workers } = createWorkers();
  workers.complete(status());
  expect(workers.describe(0)).toEqual([missing]);
  workers.receive({ report: report(1, 11) });
  expect(workers.describe(0)).toEqual([]);
  workers.receive({ gone: 1 });
  for (clock.now = 0; clock.now < 5000; clock.now += 1000) {
    workers.complete(status());
    expect(workers.describe(clock.now)).toEqual([missing]);
  }
  workers.receive({ report: report(1, 12) });
  expect(workers.describe(5000)).toEqual([]);
});

type Minutes = {
  /** Requests of both workers in a second of the five minutes. */
  answered: (second: number) => number;
  /** Of the second worker. */
  changes?: (second: number) => Partial<Status>;
  isLookedAt?: (second: number) => boolean;
};

/** Gives how often within five minutes two workers were found to rest. */
function runFiveMinutes({ answered, changes = () => ({}), isLookedAt = () => true }: Minutes): number {
  const { workers } = createWorkers();
  workers.receive({ report: report(0, 9, 50_000) }); // what those before them have done does not count
  let [sum, rests] = [0, 0];
  for (let second = 0; second < 300; second++) {
    sum += answered(second) / 2;
    if (!isLookedAt(second)) continue; // this process is paused
    if (workers.rest(second * 1000)) rests++; // what was reported meanwhile is heard afterwards
    workers.complete(status(sum));
    workers.receive({ report: { ...report(1, 11, sum + 50_000, changes(second)), answered: sum } });
  }
  return rests;
}

const rush = (second: number) => (second < 10 ? 1000 : 0);

test.each<[string, number, Minutes]>([
  ["rest after much work", 1, { answered: rush }],
  ["are only probed after much work", 1, { answered: (second) => rush(second) || 0.98 }],
  ["have had little to do", 0, { answered: (second) => rush(second) * 0.999 }],
  ["go on", 0, { answered: (second) => rush(second) || 1.04 }],
  ["work in between", 0, { answered: (second) => (second % 150 === 0 ? 10_000 : 0) }],
  ["have a client", 0, { answered: rush, changes: () => ({ connections: 1 }) }],
  ["had a client", 1, { answered: rush, changes: (second) => ({ connections: second < 250 ? 1 : 0 }) }],
  ["cannot read the database", 0, { answered: rush, changes: () => ({ degradedReason: "gone" }) }],
  [
    "work while nobody looks",
    0,
    { answered: () => 1000, isLookedAt: (second) => second < 20 || second > 290 },
  ],
  ["rest while nobody looks", 0, { answered: rush, isLookedAt: (second) => second < 20 || second > 290 }],
])("workers that %s are found to rest: %d times within five minutes", (_when, times, minutes) => {
  expect(runFiveMinutes(minutes)).toBe(times);
});

test("a worker goes on with what the one before it had counted, also after it started; answered is only its own", () => {
  const { workers } = createWorkers();
  workers.receive({ report: report(0, 9, 500) });
  workers.receive({ exits: { crashed: 0, hung: 0 } });
  expect(workers.reports).toEqual([]);
  expect(workers.complete(status(7))).toEqual({ ...report(0, 10, 507), answered: 7 });
  workers.receive({ report: report(0, 9, 520) }); // its last one
  for (const count of [8, 9])
    expect(workers.complete(status(count))).toEqual({ ...report(0, 10, 520 + count), answered: count });
  expect(workers.reports).toEqual([{ ...report(0, 10, 529), answered: 9 }]);
});

test("the report of a successor takes the place of the one before it", () => {
  const { workers } = createWorkers();
  workers.receive({ report: report(1, 11, 500) });
  workers.receive({ report: report(1, 12, 501) });
  expect(workers.reports).toEqual([report(1, 12, 501)]);
  expect(workers.goneCounters).toBeNull();
});

test("what a worker that is gone had counted stays, until its successor has it", () => {
  const workers = new Workers(own, 3);
  for (const slot of [1, 2]) workers.receive({ report: report(slot, 10 + slot, 500) });
  for (const slot of [1, 2]) workers.receive({ gone: slot });
  expect(workers.reports).toEqual([]);
  expect(workers.goneCounters).toEqual(status(1000).counters);
  workers.receive({ report: report(1, 13, 501) });
  expect(workers.reports).toEqual([report(1, 13, 501)]);
  expect(workers.goneCounters).toEqual(status(500).counters);
});

test("a worker that runs is not gone for itself, nor is one that was never heard of", () => {
  const { workers } = createWorkers();
  for (const slot of [0, 1]) workers.receive({ gone: slot });
  workers.complete(status(5));
  for (const slot of [0, 1]) workers.receive({ gone: slot });
  expect(workers.reports).toEqual([report(0, 10, 5)]);
  expect(workers.goneCounters).toBeNull();
});

test("a worker has been told all with the exits", () => {
  const { workers } = createWorkers();
  expect(workers.exits).toEqual({ crashed: 0, hung: 0 });
  workers.receive({ report: report(0, 9) });
  workers.receive({ gone: 1 });
  expect(Bun.peek.status(workers.told)).toBe("pending");
  workers.receive({ exits: { crashed: 2, hung: 1 } });
  expect(Bun.peek.status(workers.told)).toBe("fulfilled");
  expect(workers.exits).toEqual({ crashed: 2, hung: 1 });
});

test("the workers are whole when as many as are wanted have reported, without those that are gone", () => {
  const { workers } = createWorkers();
  workers.receive({ report: report(1, 11) });
  workers.receive({ report: report(1, 11) });
  workers.receive({ gone: 1 });
  workers.complete(status());
  expect(Bun.peek.status(workers.whole)).toBe("pending");
  workers.receive({ report: report(1, 12) });
  expect(Bun.peek.status(workers.whole)).toBe("fulfilled");
});

type Process = { slot: number; before: Process | null; workers: Workers; counted: number; reported: number };

class Slot {
  serving: Process | null = null;
  leaving: Process | null = null;
  last: { process: Process; report: WorkerReport } | null = null;
}

/** In each slot a worker that serves, maybe one that leaves, and what the supervisor tells them (messages.ts). */
class FakeOrigin {
  readonly #slots = [new Slot(), new Slot(), new Slot()];
  /** Requests that all that ever ran have reported. */
  reported = 0;
  #pid = 100;

  get running(): Process[] {
    return this.#slots.flatMap(({ serving, leaving }) => [serving ?? [], leaving ?? []].flat());
  }

  /** Starts, ends or asks one of them. */
  step(random: Random): void {
    const slot = random.pick(this.#slots);
    const process = random.pick([slot.serving, slot.leaving]);
    const choice = random.below(10);
    if (choice === 0) this.#start(slot);
    else if (choice === 1) this.#leave(slot);
    else if (choice === 2) this.#crash(slot);
    else if (process !== null) process.counted += random.below(100);
    if (choice > 5) this.#report(process);
  }

  // The one that serves in the slot leaves then.
  #start(slot: Slot): void {
    if (slot.leaving !== null && slot.serving !== null) return;
    const own = { slot: this.#slots.indexOf(slot), pid: this.#pid++ };
    const workers = new Workers(own, this.#slots.length);
    for (const [index, { last, serving }] of this.#slots.entries()) {
      if (last !== null) workers.receive({ report: last.report });
      if (serving === null && index !== own.slot) workers.receive({ gone: index });
    }
    slot.leaving ??= slot.serving;
    slot.serving = { slot: own.slot, before: slot.last?.process ?? null, workers, counted: 0, reported: 0 };
    this.#report(slot.serving);
  }

  // All hear of the newest one in another slot, and each of the one before it in its own.
  #report(process: Process | null): void {
    if (process === null) return;
    const report = process.workers.complete(status(process.counted));
    this.reported += process.counted - process.reported;
    process.reported = process.counted;
    const slot = this.#slots[process.slot];
    const isNewest = slot?.serving === process;
    if (isNewest) slot.last = { process, report };
    for (const other of this.running)
      if (other.slot === process.slot ? other.before === process : isNewest)
        other.workers.receive({ report });
  }

  #leave(slot: Slot): void {
    this.#report(slot.leaving);
    slot.leaving = null;
  }

  #crash(slot: Slot): void {
    if (slot.serving === null) return;
    slot.serving = null;
    for (const { workers } of this.running) workers.receive({ gone: this.#slots.indexOf(slot) });
  }
}

test(`counters never go back, and nothing counts twice, whoever starts, leaves and crashes (TEST_SEED=${testSeed})`, () => {
  const random = new Random();
  const origin = new FakeOrigin();
  const seen = new Map<Process, number>();
  for (let draw = 0; draw < drawsOf({ usual: 3000, long: 50_000 }); draw++) {
    origin.step(random);
    for (const process of origin.running) {
      const sum = sumRequests(process.workers);
      expect(sum).toBeGreaterThanOrEqual(seen.get(process) ?? 0);
      expect(sum).toBeLessThanOrEqual(origin.reported);
      seen.set(process, sum);
    }
  }
});
