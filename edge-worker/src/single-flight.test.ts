import { expect, setSystemTime, test } from "bun:test";
import { SingleFlight } from "./single-flight.ts";

test("work that is under way is shared, by key", async () => {
  const flights = new SingleFlight<string>(10);
  const { promise, resolve } = Promise.withResolvers<string>();
  let begun = 0;
  const work = () => {
    begun++;
    return promise;
  };
  const first = flights.share("a", work);
  const second = flights.share("a", work);
  const other = flights.share("b", work);
  expect(begun).toBe(2);
  resolve("done");
  expect(await first).toEqual({ outcome: "done", joined: false });
  expect(await second).toEqual({ outcome: "done", joined: true });
  expect(await other).toEqual({ outcome: "done", joined: false });
});

test("work that is done is begun anew", async () => {
  const flights = new SingleFlight<number>(10);
  let begun = 0;
  const work = async () => ++begun;
  await flights.share("a", work);
  expect(flights.isUnderWay("a")).toBe(false);
  expect((await flights.share("a", work)).outcome).toBe(2);
});

test("work that fails fails for all who share it, and is begun anew", async () => {
  const flights = new SingleFlight<number>(10);
  const fail = async (): Promise<number> => {
    throw new Error("broken");
  };
  const both = await Promise.allSettled([flights.share("a", fail), flights.share("a", fail)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await flights.share("a", async () => 1)).outcome).toBe(1);
});

test("work that never ends gives null, and stands in nobody's way", async () => {
  const flights = new SingleFlight<number>(0.02);
  const never = () => new Promise<number>(() => {});
  const given = await Promise.all([flights.share("a", never), flights.share("a", never)]);
  expect(given).toEqual([
    { outcome: null, joined: false },
    { outcome: null, joined: true },
  ]);
  expect(await flights.share("a", async () => 1)).toEqual({ outcome: 1, joined: false });
});

test("work that ends after it was given up leaves alone what was begun since", async () => {
  const flights = new SingleFlight<number>(10);
  const [late, later] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const first = flights.share("a", () => late.promise);
  setSystemTime(Date.now() + 11_000);
  const second = flights.share("a", () => later.promise);
  late.resolve(1);
  await first;
  const underWay = flights.isUnderWay("a");
  setSystemTime();
  later.resolve(2);
  expect(await second).toEqual({ outcome: 2, joined: false });
  expect(underWay).toBe(true);
});
