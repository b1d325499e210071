import { expect, test } from "bun:test";
import { BuildBudget, BuildQueue } from "./build-queue.ts";

// A turn of the event loop that comes when the test says so.
function manualTurns() {
  const turns: (() => void)[] = [];
  return { yieldTurn: () => new Promise<void>((resolve) => turns.push(resolve)), turns };
}

test("jobs wait for a turn of the event loop, and for a pause after each", async () => {
  const { yieldTurn, turns } = manualTurns();
  const queue = new BuildQueue(10, { yieldTurn, pause: yieldTurn });
  const done: string[] = [];
  const jobs = ["a", "b", "c"].map((key) => queue.run(key, async () => void done.push(key)));
  expect(done).toEqual([]);
  for (const expected of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    turns.shift()?.();
    await jobs[expected.length - 1];
    expect(done).toEqual(expected);
    await new Promise(setImmediate);
  }
  expect(turns).toEqual([]); // nobody waits for a pause after the last
});

test("jobs that wait take a part of the time, and one alone does not wait", async () => {
  const queue = new BuildQueue(100);
  const started = performance.now();
  await Promise.all(Array.from({ length: 50 }, (_, key) => queue.run(`${key}`, async () => {})));
  expect(performance.now() - started).toBeGreaterThanOrEqual(49 * 0.9); // a millisecond each
});

test("the pause after a job is twice its time, within bounds", async () => {
  const pauses: number[] = [];
  const queue = new BuildQueue(100, { pause: async (milliseconds) => void pauses.push(milliseconds) });
  const busy = (milliseconds: number) => async () => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  };
  await Promise.all([0, 5, 50, 0].map((milliseconds, key) => queue.run(`${key}`, busy(milliseconds))));
  expect([pauses.length, pauses[2]]).toEqual([3, 20]);
  expect(pauses[0]).toBeGreaterThanOrEqual(1);
  expect(pauses[1]).toBeGreaterThanOrEqual(10);
});

test("requests for the same key share one job, also while it runs", async () => {
  const queue = new BuildQueue(10);
  const { promise, resolve } = Promise.withResolvers<number>();
  let runs = 0;
  const job = () => {
    runs++;
    return promise;
  };
  const first = queue.run("key", job);
  await new Promise(setImmediate);
  const second = queue.run("key", job);
  resolve(7);
  expect(await Promise.all([first, second])).toEqual([7, 7]);
  expect(runs).toBe(1);
  expect(await queue.run("key", async () => 8)).toBe(8);
});

test("too many are refused at once, and a failed job does not stop the others", async () => {
  const queue = new BuildQueue(2);
  const failing = queue.run("a", () => Promise.reject(new Error("broken")));
  const next = queue.run("b", async () => "fine");
  expect(queue.run("c", async () => "never")).toBeNull();
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("fine");
});

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
