import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { europeByRegion } from "./countries.ts";
import { Edge } from "./edge.ts";
import { longLifetimes, withLifetimes } from "./lifetimes.ts";
import { originServes, startTestStack, type TestStack } from "./test-stack.ts";
import type { Traffic, TrafficResult } from "./traffic-worker.ts";

// 5,000 requests a second for 24 s, as fast as it goes. The first list of each region is stale as soon as it is fetched;
// the second one is fresh for longer than the test takes.
const requests = 120_000;
const rankedSecondsAgo = 3600;
const dataCentres = 3;
const places = Object.entries(europeByRegion).flatMap(([region, countries]) =>
  countries.split(" ").map((country) => ({ country, region })),
);

describe("a day in miniature, in three data centres", () => {
  let stack: TestStack;
  let edges: Edge[] = [];
  before(async () => {
    stack = await startTestStack({}, rankedSecondsAgo);
    stack.proxy.behaviour = withLifetimes({ ...longLifetimes, maxAge: 0 });
    const others = Array.from({ length: dataCentres - 1 }, () => Edge.start(stack.proxy.url));
    edges = [stack.edge, ...(await Promise.all(others))];
  });
  after(async () => {
    await Promise.all(edges.slice(1).map((edge) => edge.close()));
    await stack.close();
  });

  test("brings the origin less than one request in a thousand: one a list, ranking and data centre", async (context) => {
    const regions = Object.keys(europeByRegion);
    const cold = edges.flatMap((edge) => regions.map((region) => edge.runTraffic(oneFrom(region))));
    assert.ok((await Promise.all(cold)).every(({ wrong }) => wrong === 0));
    stack.database.publish();
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    const lists = regions.map((region) => `/api/trending?region=${region}`);
    await originServes(stack, 2, lists);
    const results = await Promise.all(edges.map((edge, index) => edge.runTraffic(trafficOf(index))));
    const byCacheStatus = addUp(results);
    context.diagnostic(JSON.stringify(byCacheStatus));

    assert.ok(results.every(({ wrong }) => wrong === 0));
    assert.ok(requests / stack.proxy.targets.length > 1000);
    assert.equal(stack.proxy.targets.length, 2 * regions.length * dataCentres);
    assert.ok((byCacheStatus["trendvault; hit; detail=stale-while-revalidate"] ?? 0) > 0);
  });
});

function oneFrom(region: string): Traffic {
  return { ...common, requests: 1, concurrency: 1, clients: [{ country: region, region, share: 1 }] };
}

/** Zipf's law: the second most frequent country has half the clients of the first, the third a third. */
function trafficOf(dataCentre: number): Traffic {
  const ranked = [...places.slice(dataCentre * 7), ...places.slice(0, dataCentre * 7)]; // each has its own favourites
  const sum = ranked.reduce((total, _, index) => total + 1 / (index + 1), 0);
  const clients = ranked.map((place, index) => ({ ...place, share: 1 / (index + 1) / sum }));
  return { ...common, requests: requests / dataCentres, concurrency: 100, clients };
}

const common = { windows: [{ window: "day", share: 1 }] };

function addUp(results: TrafficResult[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [kind, count] of results.flatMap(({ byCacheStatus }) => Object.entries(byCacheStatus))) {
    sum[kind] = (sum[kind] ?? 0) + count;
  }
  return sum;
}
