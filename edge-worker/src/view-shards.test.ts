import { expect, test } from "bun:test";
import type { Increments } from "./minute-counts.ts";
import { canonicalize } from "./policy.ts";
import { ServedLists } from "./view-shards.ts";

test("lists that are served are added by region, list and page, once in a while and in one call for each region", async () => {
  const added: [string, Increments][] = [];
  const pending: Promise<unknown>[] = [];
  const shards = {
    add: async (region: string, increments: Increments) => {
      added.push([region, increments]);
      return [];
    },
  };
  const served = new ServedLists({ shards, flushSeconds: 0.01, log: () => {} });
  const context = { waitUntil: (work: Promise<unknown>) => void pending.push(work) };
  const serve = (query: string, now: number) => {
    const { canonical } = canonicalize(new URL(`http://a/api/trending?${query}`));
    if (canonical !== null) served.count(canonical, now, context);
  };
  for (let lists = 0; lists < 5; lists++) serve("region=GB", 1);
  serve("region=GB&limit=10&cursor=7-20", 1);
  const longName = "ä".repeat(60);
  serve("region=DE&window=now&language=de&limit=10", 1);
  serve("region=DE&window=now&audience=kids", 1);
  serve(`region=DE&window=now&category=${encodeURIComponent(longName)}`, 1);
  expect(pending).toHaveLength(1);
  await pending.pop();
  const day = { window: "day", category: "" };
  expect(added).toEqual([
    [
      "GB",
      {
        looks: [],
        served: [
          {
            ...day,
            pages: [
              [0, 24, 5],
              [20, 10, 1],
            ],
          },
        ],
      },
    ],
    [
      "DE",
      {
        looks: [],
        served: [
          { window: "now", category: "#language:de", pages: [[0, 10, 1]] },
          { window: "now", category: "#language:audience=kids", pages: [[0, 24, 1]] },
          { window: "now", category: expect.stringMatching(/^#.{22}$/), pages: [[0, 24, 1]] },
        ],
      },
    ],
  ]);
  serve("region=GB", 2);
  await pending.pop();
  expect(added.at(-1)?.[1].served).toEqual([{ ...day, pages: [[0, 24, 1]] }]);
});

test("a client that asks for more pages than are remembered keeps no other list from being counted", async () => {
  let [rows, lists] = [0, 0];
  const pending: Promise<unknown>[] = [];
  const shards = {
    add: async (_: string, { served }: Increments) => {
      for (const { pages } of served) {
        rows = Math.max(rows, pages.length);
        for (const [, , count] of pages) lists += count;
      }
      return [];
    },
  };
  const served = new ServedLists({ shards, flushSeconds: 0.01, log: () => {} });
  const context = { waitUntil: (work: Promise<unknown>) => void pending.push(work) };
  const asked = 2500;
  for (let generation = 1; generation <= asked; generation++) {
    const { canonical } = canonicalize(new URL(`http://a/api/trending?region=GB&cursor=${generation}-24`));
    if (canonical !== null) served.count(canonical, 1, context);
  }
  await Promise.all(pending);
  expect([rows <= 1000, lists]).toEqual([true, asked]);
});

test("lists that a shard did not take are added with the next ones", async () => {
  const added: number[] = [];
  const pending: Promise<unknown>[] = [];
  let isAway = true;
  const shards = {
    add: async (_: string, { served }: Increments) => {
      if (isAway) throw new Error("The shard is away");
      added.push(...served.flatMap(({ pages }) => pages.map(([, , lists]) => lists)));
      return [];
    },
  };
  const served = new ServedLists({ shards, flushSeconds: 0.01, log: () => {} });
  const context = { waitUntil: (work: Promise<unknown>) => void pending.push(work) };
  const { canonical } = canonicalize(new URL("http://a/api/trending?region=GB"));
  if (canonical === null) throw new Error("not canonical");
  for (const now of [1, 1, 1]) served.count(canonical, now, context);
  await pending.pop();
  isAway = false;
  served.count(canonical, 2, context);
  await pending.pop();
  expect([added, pending]).toEqual([[4], []]);
});

test("a clock that is set back does not put off what has to be added", () => {
  const pending: Promise<unknown>[] = [];
  const served = new ServedLists({ shards: { add: async () => [] }, flushSeconds: 0.01, log: () => {} });
  const context = { waitUntil: (work: Promise<unknown>) => void pending.push(work) };
  const { canonical } = canonicalize(new URL("http://a/api/trending?region=GB"));
  if (canonical === null) throw new Error("not canonical");
  for (const now of [1300, 1300, 1000, 1000]) served.count(canonical, now, context);
  expect(pending).toHaveLength(2);
});
