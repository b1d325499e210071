import { expect, test } from "bun:test";
import { Figures, judgeRun, type MinuteOfSite, Outages, type Sample, StaleServing } from "./figures.ts";

const outcome = { second: 10, site: "edge", ms: 1, failure: null, excuse: null } as const;

test("a minute of a site is closed with its quantiles, and only once it is over", () => {
  const figures = new Figures();
  for (let ms = 100; ms >= 1; ms--) figures.add({ ...outcome, ms });
  figures.add({ ...outcome, second: 61 });
  figures.close(61);
  expect(figures.minutes).toEqual([
    { minute: 0, site: "edge", requests: 100, torn: 0, refused: 0, failed: 0, p50: 50, p99: 99 },
  ]);
  figures.close();
  expect(figures.minutes).toHaveLength(2);
});

test("what a kill tears, and what a clock refuses, is counted apart from what failed, which is said", () => {
  const figures = new Figures();
  figures.add({ ...outcome, failure: "closed", excuse: "torn" });
  figures.add({ ...outcome, failure: "status 403", excuse: "refused" });
  figures.add({ ...outcome, failure: "status 503" });
  figures.close();
  expect(figures.minutes[0]).toMatchObject({ requests: 3, torn: 1, refused: 1, failed: 1 });
  expect(figures.failures).toEqual(["second 10, edge: status 503"]);
});

test("quantiles are by the nearest rank", () => {
  const figures = new Figures();
  for (const ms of [4, 2, 1, 3]) figures.add({ ...outcome, ms });
  figures.add({ ...outcome, second: 70, ms: 7 });
  figures.close();
  expect(figures.minutes.map(({ p50, p99 }) => [p50, p99])).toEqual([
    [2, 4],
    [7, 7],
  ]);
});

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
    edgeMegabytes: 100 + index,
    emptyMegabytes: (100 + index) / 1.3,
    originHandles: 60,
    edgeHandles: 40,
    databaseMegabytes: 30,
    walMegabytes: 2,
    ...change(index * 5),
  }));

type Measured = Parameters<typeof judgeRun>[0];

const judge = (measured: Partial<Measured>) =>
  judgeRun({
    samples: samples(),
    minutes: minutes(),
    recoverySeconds: [2, 5],
    staleSeconds: 130,
    ...measured,
  });
const missed = (measured: Partial<Measured>) =>
  judge(measured).flatMap(({ isMet, name }) => (isMet ? [] : [name]));

test("a run in which nothing changes meets every limit", () => {
  expect(missed({})).toEqual([]);
});

test.each<[string, Partial<Measured>]>([
  ["memory of the origin", { samples: samples((second) => ({ originMegabytes: 200 + second / 20 })) }],
  ["memory of the edge over an empty one's", { samples: samples((at) => ({ edgeMegabytes: 150 + at })) }],
  ["handles of the edge", { samples: samples((second) => ({ edgeHandles: 40 + second / 50 })) }],
  ["database file", { samples: samples((second) => ({ databaseMegabytes: 30 + second / 100 })) }],
  ["largest WAL, MB", { samples: samples((second) => ({ walMegabytes: second === 600 ? 65 : 1 })) }],
  [
    "p99 of the edge",
    { minutes: minutes(({ minute, site }) => (site === "edge" ? { p99: 5 + minute } : {})) },
  ],
  ["failed requests", { minutes: minutes(({ minute }) => ({ failed: minute === 7 ? 1 : 0 })) }],
  ["longest recovery, s", { recoverySeconds: [61] }],
  ["a list at the edge after the next one, s", { staleSeconds: 301 }],
])("%s is missed when it grows, and nothing else is", (name, measured) => {
  expect(missed(measured)).toEqual([name]);
});

test("the edge's memory is judged by an empty Worker's of the same age, and not by how old the last kill let both become", () => {
  const killed = (index: number) => 300 + 3 * (index % 90);
  const of = (over: number) => {
    const both = samples().map((one, index) => ({
      ...one,
      edgeMegabytes: index % 90 === 0 ? 0 : killed(index) * over,
      emptyMegabytes: index % 90 < 2 ? 0 : killed(index), // it was killed, too
    }));
    return missed({ samples: both });
  };
  expect(of(1.5)).toEqual([]);
  expect(of(1.8)).toEqual(["memory of the edge over an empty one's"]);
});

test("what is warm at last is compared, and of too few values nothing", () => {
  const growthOf = (originMegabytes: number[]) => {
    const taken = samples().slice(0, originMegabytes.length);
    const changed = taken.map((sample, at) => ({ ...sample, originMegabytes: originMegabytes[at] ?? 0 }));
    return judge({ samples: changed }).find(({ name }) => name === "memory of the origin")?.measured;
  };
  expect(growthOf([1, 1, 1, ...Array(17).fill(50)])).toBe(1);
  expect(growthOf([1, 2, 3])).toBeNull();
  expect(missed({ minutes: [] })).toEqual(["p99 of the edge", "p99 of the origin"]);
});

test("a request that was open while its site was away is torn, and no other", () => {
  const outages = new Outages();
  outages.begin("origin", 100)(200);
  const isTorn = (from: number, until: number) =>
    outages.excuseOf("origin", { from, until, failure: "closed" });
  expect([isTorn(50, 99), isTorn(50, 100), isTorn(150, 160), isTorn(200, 250), isTorn(201, 250)]).toEqual([
    null,
    "torn",
    "torn",
    "torn",
    null,
  ]);
  expect(outages.excuseOf("edge", { from: 150, until: 160, failure: "closed" })).toBeNull();
});

test("an outage that has not ended tears whatever comes", () => {
  const outages = new Outages();
  outages.begin("edge", 100);
  expect(outages.excuseOf("edge", { from: 5000, until: 6000, failure: "status 503" })).toBe("torn");
});

test("a wrong clock excuses refusals by it, and nothing else", () => {
  const outages = new Outages();
  outages.begin("origin", 100, "refused")(200);
  const excuse = (failure: string, from = 150) =>
    outages.excuseOf("origin", { from, until: from + 1, failure });
  const unsigned = '/: status 403: {"title":"The request has no valid edge signature"}';
  const outdated = "/: VerificationError: Cannot verify the answer: outdated";
  expect([excuse(unsigned), excuse(outdated)]).toEqual(["refused", "refused"]);
  expect([excuse(unsigned, 300), excuse("/: status 503: "), excuse("/: closed")]).toEqual([null, null, null]);
  expect(excuse("/: VerificationError: Cannot verify the answer: invalid")).toBeNull();
});

test("a list counts as stale from when the next generation was there, and the longest time counts", () => {
  const stale = new StaleServing();
  stale.noteNewest(7, 0);
  stale.noteServed(7, 500_000);
  expect(stale.longestSeconds).toBe(0);
  stale.noteNewest(8, 600_000);
  stale.noteServed(7, 690_000);
  stale.noteServed(8, 695_000);
  stale.noteServed(7, 640_000);
  expect(stale.longestSeconds).toBe(90);
});

test("a generation that was newest between two looks counts from the second look", () => {
  const stale = new StaleServing();
  stale.noteNewest(1, 0);
  stale.noteNewest(4, 10_000);
  stale.noteServed(3, 15_000);
  expect(stale.longestSeconds).toBe(5);
});
