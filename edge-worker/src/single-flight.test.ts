import { expect, setSystemTime, test } from "bun:test";
import { isBeforeDeadline, SingleFlight } from "./single-flight.ts";

test("work in flight is shared, by key", async () => {
  const flights = new SingleFlight<string>(10);
  const { promise, resolve } = Promise.withResolvers<string>();
  let begun = 0;
  const work = () => {
    begun++;
    return promise;
  };
  const first = flights.run("a", work);
  const second = flights.run("a", work);
  const other = flights.run("b", work);
  expect(begun).toBe(2);
  resolve("done");
  expect(await first).toEqual({ value: "done", shared: false });
  expect(await second).toEqual({ value: "done", shared: true });
  expect(await other).toEqual({ value: "done", shared: false });
});

test("work that is done runs again", async () => {
  const flights = new SingleFlight<number>(10);
  let begun = 0;
  const work = async () => ++begun;
  await flights.run("a", work);
  expect(flights.isInFlight("a")).toBe(false);
  expect((await flights.run("a", work)).value).toBe(2);
});

test("work that fails fails for all that share it, and runs again", async () => {
  const flights = new SingleFlight<number>(10);
  const fail = async (): Promise<number> => {
    throw new Error("broken");
  };
  const both = await Promise.allSettled([flights.run("a", fail), flights.run("a", fail)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await flights.run("a", async () => 1)).value).toBe(1);
});

test("work that never ends gives null, and blocks nothing", async () => {
  const flights = new SingleFlight<number>(0.02);
  const never = () => new Promise<number>(() => {});
  const given = await Promise.all([flights.run("a", never), flights.run("a", never)]);
  expect(given).toEqual([
    { value: null, shared: false },
    { value: null, shared: true },
  ]);
  expect(await flights.run("a", async () => 1)).toEqual({ value: 1, shared: false });
});

test("work that ends after its timeout leaves the newer run alone", async () => {
  const flights = new SingleFlight<number>(10);
  const [late, later] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const first = flights.run("a", () => late.promise);
  setSystemTime(Date.now() + 11_000);
  const second = flights.run("a", () => later.promise);
  late.resolve(1);
  await first;
  const inFlight = flights.isInFlight("a");
  setSystemTime();
  later.resolve(2);
  expect(await second).toEqual({ value: 2, shared: false });
  expect(inFlight).toBe(true);
});

test("work that was lost is begun anew, also when the clock was set back meanwhile", async () => {
  const flights = new SingleFlight<number>(10);
  const begun = Date.now();
  const { promise, resolve } = Promise.withResolvers<number>();
  setSystemTime(begun + 300_000);
  const first = flights.run("a", () => promise);
  setSystemTime(begun);
  const isInFlight = flights.isInFlight("a");
  setSystemTime();
  expect(isInFlight).toBe(false);
  resolve(1);
  await first;
});

test.each<[string, number, boolean]>([
  ["has come", 1000, false],
  ["is ahead", 1001, true],
  ["is as far ahead as it may be set", 1120, true],
  ["was set before the clock went back by minutes", 1300, false],
])("a time that %s", (_, time, expected) => {
  expect(isBeforeDeadline(time, { now: 1000, longest: 120 })).toBe(expected);
});
