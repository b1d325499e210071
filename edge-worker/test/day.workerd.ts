import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { europeOf } from "./countries.ts";
import { Edge } from "./edge.ts";
import { withLifetimes } from "./lifetimes.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";
import type { Outcome, Traffic } from "./traffic-worker.ts";

// What 5,000 requests a second are in 24 s, as fast as it goes. Lifetimes are half of the origin's own, and what is
// published first is so old that every list goes stale once while the visitors come.
const requests = 120_000;
const lifetimes = { fresh: 60, stale: 300, staleIfError: 43_200, browser: 3 };
const rankedSecondsAgo = 55;
const windows = [{ window: "day", share: 1 }];
const places = Object.entries(europeOf).flatMap(([region, placed]) =>
  placed.split(" ").map((country) => ({ country, region })),
);

describe("a day in miniature, in three data centres", () => {
  let stack: TestStack;
  let edges: Edge[] = [];
  before(async () => {
    stack = await startTestStack({}, rankedSecondsAgo);
    stack.network.behaviour = withLifetimes(lifetimes);
    const others = [Edge.start(stack.network.url), Edge.start(stack.network.url)];
    edges = [stack.edge, ...(await Promise.all(others))];
  });
  after(async () => {
    await Promise.all(edges.slice(1).map((edge) => edge.close()));
    await stack.close();
  });

  test("brings the origin one request in a thousand, and never more than lists and lifetimes allow", async (context) => {
    const started = Date.now();
    const visits = Promise.all(edges.map((edge, index) => edge.busy(trafficOf(index))));
    await sleep(2000);
    stack.database.publish();
    const outcomes = await visits;
    const seconds = (Date.now() - started) / 1000;
    const handled = addUp(outcomes);
    const asked = stack.network.asked.length;
    context.diagnostic(`${requests} requests in ${seconds.toFixed(1)} s, ${asked} reached the origin`);
    context.diagnostic(JSON.stringify(handled));

    assert.ok(outcomes.every(({ wrong }) => wrong === 0));
    assert.ok(asked <= requests / 1000, `${asked} requests reached the origin`);
    const lists = new Set(stack.network.asked).size;
    const lifetimesSeen = Math.ceil(seconds / lifetimes.fresh);
    assert.ok(asked <= lists * edges.length * (1 + lifetimesSeen), "once a lifetime, whatever the rate");
    assert.ok((handled["trendvault; hit; detail=stale-while-revalidate"] ?? 0) > 0, "nothing went stale");
  });
});

/** Zipf's law: the second most frequent country has half the visitors of the first, the third a third. */
function trafficOf(dataCentre: number): Traffic {
  const ranked = [...places.slice(dataCentre * 7), ...places.slice(0, dataCentre * 7)]; // each has its own favourites
  const sum = ranked.reduce((total, _, index) => total + 1 / (index + 1), 0);
  const visitors = ranked.map((place, index) => ({ ...place, share: 1 / (index + 1) / sum }));
  return { requests: requests / 3, atOnce: 100, visitors, windows };
}

function addUp(outcomes: Outcome[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [how, count] of outcomes.flatMap(({ handled }) => Object.entries(handled))) {
    sum[how] = (sum[how] ?? 0) + count;
  }
  return sum;
}
