import { expect, test } from "bun:test";
import type { MinuteOfSite } from "./figures.ts";
import { growthOf, judgeRun, type Measured } from "./judge-run.ts";
import type { Sample } from "./samples.ts";

const minutes = (change: (minute: MinuteOfSite) => Partial<MinuteOfSite> = () => ({})): MinuteOfSite[] =>
  Array.from({ length: 40 }, (_, index) => {
    const site = index % 2 === 0 ? "edge" : "origin";
    const one = {
      minute: Math.floor(index / 2),
      site,
      requests: 100,
      torn: 1,
      refused: 1,
      failed: 0,
      p50: 1,
      p99: 5,
    } as const;
    return { ...one, ...change(one) };
  });

const samples = (change: (second: number) => Partial<Sample> = () => ({})): Sample[] =>
  Array.from({ length: 240 }, (_, index) => ({
    second: index * 5,
    originMegabytes: 200,
    edgeMegabytes: 100,
    originHandles: 60,
    edgeHandles: 40,
    databaseMegabytes: 30,
    walMegabytes: 2,
    ...change(index * 5),
  }));

const missed = (measured: Partial<Measured>) =>
  judgeRun({
    samples: samples(),
    minutes: minutes(),
    recoverySeconds: [2, 5],
    supersededSeconds: 130,
    ...measured,
  })
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => name);

test("a run in which nothing changes meets every limit", () => {
  expect(missed({})).toEqual([]);
});

test.each<[string, Partial<Measured>]>([
  ["memory of the origin", { samples: samples((second) => ({ originMegabytes: 200 + second / 20 })) }],
  ["handles of the edge", { samples: samples((second) => ({ edgeHandles: 40 + second / 50 })) }],
  ["database file", { samples: samples((second) => ({ databaseMegabytes: 30 + second / 100 })) }],
  ["largest WAL, MB", { samples: samples((second) => ({ walMegabytes: second === 600 ? 65 : 1 })) }],
  [
    "p99 of the edge",
    { minutes: minutes(({ minute, site }) => (site === "edge" ? { p99: 5 + minute } : {})) },
  ],
  ["failed requests", { minutes: minutes(({ minute }) => ({ failed: minute === 7 ? 1 : 0 })) }],
  ["longest recovery, s", { recoverySeconds: [61] }],
  ["a list at the edge after the next one, s", { supersededSeconds: 301 }],
])("%s is missed when it grows, and nothing else is", (name, measured) => {
  expect(missed(measured)).toEqual([name]);
});

test("what is warm at last is compared, and of too few values nothing", () => {
  const warming = [1, 1, 1, ...Array(17).fill(50)];
  expect(growthOf(warming)).toBe(1);
  expect(growthOf([1, 2, 3])).toBeNull();
  expect(missed({ minutes: [] })).toEqual(["p99 of the edge", "p99 of the origin"]);
});
