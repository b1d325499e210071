import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { until } from "@trendvault/kit/machine";
import { Counters } from "../serving/counters.ts";
import type { WorkerReport } from "./messages.ts";
import { engineOptions, schedulingDelayMs, WorkerPool } from "./worker-pool.ts";

/** A worker without a process: the test decides when it listens and when it ends. */
class FakeWorker {
  readonly pid = 1;
  readonly startedAt = performance.now();
  lastMessageAt = this.startedAt;
  starvedMs = 0;
  report: WorkerReport | null = null;
  wasKilled = false;
  readonly #listening = Promise.withResolvers<number | null>();
  readonly #exited = Promise.withResolvers<number | string>();

  get listening(): Promise<number | null> {
    return this.#listening.promise;
  }

  get exited(): Promise<number | string> {
    return this.#exited.promise;
  }

  listen(): void {
    this.#listening.resolve(3000);
  }

  exit(code: number | string): void {
    this.#listening.resolve(null);
    this.#exited.resolve(code);
  }

  async stop(): Promise<void> {
    this.exit(0);
  }

  reopen(): void {}

  kill(): void {
    this.wasKilled = true; // and does not end yet, as one that waits for a disk
  }
}

function createPool() {
  const workers: FakeWorker[] = [];
  const ports: (number | null)[] = [];
  const events: string[] = [];
  const delays: unknown[] = [];
  let startsToFail = 0;
  const start = (port: number | null) => {
    if (startsToFail-- > 0) throw new Error("EAGAIN");
    ports.push(port);
    return workers[workers.push(new FakeWorker()) - 1] as FakeWorker;
  };
  const pool = new WorkerPool(start, (_level, event, _message, facts) => {
    events.push(event);
    if (event === "worker_exited") delays.push(facts?.delay_ms);
  });
  const failNextStart = () => {
    startsToFail = 1;
  };
  return { pool, workers, ports, events, delays, failNextStart };
}

function report(answered = 0): WorkerReport {
  const counters = { ...new Counters().read(), requests: { "trending 200": answered } };
  const well = { generation: null, degradedReason: null, eventLoopLagSeconds: 0 };
  return { ...well, counters, residentBytes: 1, connections: 0 };
}

async function open({ pool, workers }: ReturnType<typeof createPool>): Promise<void> {
  const opened = pool.open();
  workers[0]?.listen();
  expect(await opened).toBeNull();
}

test("the first worker finds its port, and the others get that one", async () => {
  const made = createPool();
  await open(made);
  const grown = made.pool.grow(3);
  for (const worker of made.workers) worker.listen();
  await grown;
  expect(made.ports).toEqual([null, 3000, 3000]);
});

test("the exit code of the first worker is returned, and it is not started again", async () => {
  const { pool, workers, events } = createPool();
  const opened = pool.open();
  workers[0]?.exit(78);
  expect(await opened).toBe(78);
  expect(workers.length).toBe(1);
  expect(events).toEqual([]);
});

test("a first worker that a signal to the whole group has ended is no failure", async () => {
  const { pool, workers } = createPool();
  const opened = pool.open();
  workers[0]?.exit("SIGTERM");
  await new Promise(setImmediate); // the worker's end is heard of first
  await pool.stop();
  expect(await opened).toBeNull();
});

test("a further worker that ends before it listens is started again", async () => {
  const made = createPool();
  await open(made);
  const grown = made.pool.grow(2);
  made.workers[1]?.exit("SIGKILL");
  await grown;
  await until(() => made.workers.length === 3);
  expect(made.events).toEqual(["worker_exited"]);
});

test("a first worker that crashes while the others are started is replaced once", async () => {
  const made = createPool();
  await open(made);
  made.workers[0]?.exit("SIGKILL");
  await until(() => made.events.length === 1);
  const grown = made.pool.grow(2);
  expect(made.workers.length).toBe(2); // the crashed one, whose successor is on its way, and one more
  await until(() => made.workers.length === 3);
  for (const worker of made.workers) worker.listen();
  await grown;
});

test("SIGHUP waits for a worker that is starting before it replaces it", async () => {
  const made = createPool();
  await open(made);
  const grown = made.pool.grow(2);
  const replaced = made.pool.replace();
  await until(() => made.workers.length === 3);
  made.workers[2]?.listen();
  await until(() => made.events.length === 1);
  expect(made.workers.length).toBe(3);
  made.workers[1]?.listen();
  await grown;
  await until(() => made.workers.length === 4);
  made.workers[3]?.listen();
  await replaced;
  expect(made.events).toEqual(["worker_replaced", "worker_replaced"]);
});

test("a worker that stops reporting is killed and replaced, whether it ends or not", async () => {
  const made = createPool();
  await open(made);
  const [hung] = made.workers;
  if (hung === undefined) throw new Error("no worker");
  hung.report = report();
  const now = hung.lastMessageAt;
  made.pool.replaceSilent(now);
  made.pool.replaceSilent(now + 1900);
  expect(made.pool.describe(now + 1900)).toEqual([]);
  expect(made.pool.describe(now + 2500)).toEqual([
    "Worker 1 does not report; it is replaced when that lasts",
  ]);
  made.pool.replaceSilent(now + 3500);
  expect(hung.wasKilled).toBe(true);
  expect(made.pool.reports).toEqual([]);
  await until(() => made.workers.length === 2);
  hung.exit("SIGKILL");
  await Bun.sleep(150);
  expect(made.workers.length).toBe(2);
  expect(made.events).toEqual(["worker_hung"]);
});

test("a worker that is missing is said until its successor reports", async () => {
  const made = createPool();
  await open(made);
  const grown = made.pool.grow(2);
  for (const worker of made.workers) {
    worker.listen();
    worker.report = report();
  }
  await grown;
  expect(made.pool.describe(0)).toEqual([]);
  made.workers[1]?.exit("SIGKILL");
  await until(() => made.workers.length === 3);
  const missing = ["Only 1 of 2 workers are running; another one is started"];
  expect(made.pool.describe(0)).toEqual(missing);
  made.workers[2]?.listen();
  expect(made.pool.describe(0)).toEqual(missing);
  for (const worker of made.workers) worker.report = report();
  expect(made.pool.describe(0)).toEqual([]);
});

test("after a pause of the supervisor itself, workers have time to report", async () => {
  const made = createPool();
  await open(made);
  const [worker] = made.workers;
  if (worker === undefined) throw new Error("no worker");
  worker.report = report();
  made.pool.replaceSilent(worker.lastMessageAt);
  made.pool.replaceSilent(worker.lastMessageAt + 60_000);
  expect(made.pool.describe(worker.lastMessageAt + 60_000)).toEqual([]);
  expect(worker.wasKilled).toBe(false);
});

test("a worker that had no processor is said, but not killed for a while", async () => {
  const made = createPool();
  await open(made);
  const [worker] = made.workers;
  if (worker === undefined) throw new Error("no worker");
  worker.report = report();
  const said = worker.lastMessageAt;
  for (const silence of [1000, 2500, 4000, 5500]) {
    worker.starvedMs = silence - 500;
    made.pool.replaceSilent(said + silence);
    expect(worker.wasKilled).toBe(false);
  }
  expect(made.pool.describe(said + 5500)).toHaveLength(1);
  for (let silence = 7000; silence <= 22_000; silence += 1500) {
    worker.starvedMs = silence;
    made.pool.replaceSilent(said + silence);
  }
  expect(worker.wasKilled).toBe(true);
});

type Minutes = {
  /** Requests of both workers in a second of the five minutes. */
  answered: (second: number) => number;
  /** Of the second worker. */
  changes?: (second: number) => Partial<WorkerReport>;
  isLookedAt?: (second: number) => boolean;
};

/** Gives how many of two workers were replaced by the end of five minutes. */
async function runFiveMinutes({ answered, changes = () => ({}), isLookedAt = () => true }: Minutes) {
  const made = createPool();
  await open(made);
  const grown = made.pool.grow(2);
  made.workers[1]?.listen();
  await grown;
  let sum = 0;
  for (let second = 0; second < 300; second++) {
    sum += answered(second) / 2;
    const [first, other] = made.workers;
    if (first === undefined || other === undefined) throw new Error("no worker");
    if (!isLookedAt(second)) continue; // the supervisor is paused
    made.pool.replaceRested(second * 1000); // what was reported meanwhile is heard afterwards
    first.report = report(sum);
    other.report = { ...report(sum), ...changes(second) };
  }
  for (let turn = 0; turn < 5; turn++) {
    for (const worker of made.workers) worker.listen();
    await new Promise(setImmediate);
  }
  return made.events.filter((event) => event === "worker_replaced").length;
}

const rush = (second: number) => (second < 10 ? 1000 : 0);

test.each<[string, number, Minutes]>([
  ["rest after much work", 2, { answered: rush }],
  ["are only probed after much work", 2, { answered: (second) => rush(second) || 0.98 }],
  ["have had little to do", 0, { answered: (second) => rush(second) * 0.999 }],
  ["go on", 0, { answered: (second) => rush(second) || 1.04 }],
  ["work in between", 0, { answered: (second) => (second % 150 === 0 ? 10_000 : 0) }],
  ["have a client", 0, { answered: rush, changes: () => ({ connections: 1 }) }],
  ["had a client", 2, { answered: rush, changes: (second) => ({ connections: second < 250 ? 1 : 0 }) }],
  ["cannot read the database", 0, { answered: rush, changes: () => ({ degradedReason: "gone" }) }],
  [
    "work while nobody looks",
    0,
    { answered: () => 1000, isLookedAt: (second) => second < 20 || second > 290 },
  ],
])("workers that %s: %d are replaced within five minutes", async (_when, replaced, minutes) => {
  expect(await runFiveMinutes(minutes)).toBe(replaced);
});

test("a worker that never listens is killed", async () => {
  const made = createPool();
  void made.pool.open();
  const [worker] = made.workers;
  made.pool.replaceSilent(0);
  for (let now = 0; now < (worker?.lastMessageAt ?? 0) + 17_000; now += 1000) made.pool.replaceSilent(now);
  expect(worker?.wasKilled).toBe(true);
});

test("a process that cannot be started is tried again", async () => {
  const made = createPool();
  await open(made);
  made.failNextStart();
  made.workers[0]?.exit("SIGKILL");
  await until(() => made.workers.length === 2);
  expect(made.events).toEqual(["worker_exited", "worker_not_started"]);
});

test("when SIGHUP cannot start a worker, the old one stays, and the next SIGHUP replaces it", async () => {
  const made = createPool();
  await open(made);
  made.failNextStart();
  await made.pool.replace();
  expect(made.events).toEqual(["worker_not_started"]);
  const replaced = made.pool.replace();
  await until(() => made.workers.length === 2);
  made.workers[1]?.listen();
  await replaced;
  expect(made.events.at(-1)).toBe("worker_replaced");
});

test("nothing is started once all are being stopped", async () => {
  const made = createPool();
  await open(made);
  const [worker] = made.workers;
  if (worker !== undefined) worker.report = report(20_000);
  await made.pool.stop();
  await made.pool.grow(3);
  await made.pool.replace();
  for (let second = 0; second < 200; second++) made.pool.replaceRested(second * 1000);
  expect(made.workers.length).toBe(1);
  expect(made.events).toEqual([]);
});

test("with each crash in a row a worker is started again later, up to three seconds later", async () => {
  const made = createPool();
  await open(made);
  const grown = made.pool.grow(8);
  for (const worker of made.workers) worker.listen();
  await grown;
  for (const worker of made.workers.slice(0, 8)) worker.exit("SIGKILL");
  await until(() => made.delays.length === 8);
  expect(made.delays).toEqual([100, 200, 400, 800, 1600, 3000, 3000, 3000]);
  await made.pool.stop();
});

const spin = [process.execPath, "-e", "for (;;);"];
const isCounted = schedulingDelayMs(process.pid) > 0;

test.skipIf(!isCounted)(
  "of more busy processes than processors one waits, and a stopped one does not (where the system counts it)",
  async () => {
    const children = Array.from({ length: availableParallelism() + 1 }, () => Bun.spawn(spin));
    try {
      await until(() => children.some(({ pid }) => schedulingDelayMs(pid) > 50));
      const [waiting = 0, other = 0] = children
        .map(({ pid }) => pid)
        .sort((a, b) => schedulingDelayMs(b) - schedulingDelayMs(a));
      process.kill(waiting, "SIGSTOP");
      const isStopped = async () => / T /.test(await Bun.file(`/proc/${waiting}/stat`).text());
      await until(isStopped);
      const [before, computed] = [schedulingDelayMs(waiting), cpuTimeMs(other)];
      await until(() => cpuTimeMs(other) > computed + 300);
      expect(schedulingDelayMs(waiting)).toBe(before);
    } finally {
      for (const child of children) child.kill("SIGKILL");
    }
  },
);

test("a process that is gone did not wait", () => {
  expect(schedulingDelayMs(2 ** 30)).toBe(0);
});

/** What the main thread of a process has computed: the first field. */
function cpuTimeMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

test("the Bun that is installed starts with the options", () => {
  const { worker, inspector } = engineOptions(Bun.version);
  for (const options of [worker, inspector]) expect(Object.keys(options)).not.toEqual([]);
  const options = { ...worker, ...inspector };
  const { success } = Bun.spawnSync([process.execPath, "-e", "0"], { env: { ...process.env, ...options } });
  expect(success).toBe(true);
});

test("another release of Bun, which may not know them, gets none", () => {
  expect(engineOptions("1.4.6")).toEqual({ worker: {}, inspector: {} });
});
