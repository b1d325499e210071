import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Edge } from "./edge.ts";
import type { ClientResult } from "./fetch-many-worker.ts";
import { withLifetimes } from "./lifetimes.ts";
import { passOn } from "./origin-proxy.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

// An outage of a day in seconds: fresh for 4 s, stale until 14 s, then stale-if-error until 24 s. A busy machine may
// stop for seconds, and has to be seen in each.
const lifetimes = { maxAge: 4, staleWhileRevalidate: 10, staleIfError: 20 };
const vars = { ORIGIN_BACKOFF_SECONDS: "0.5" };
const phases = ["fresh", "stale-while-revalidate", "stale-if-error"];
const requests = ["GB", "DE", "FR", "US"].map((country) => ({ target: "/api/trending", country }));
const longestSeconds = 120; // far more than an outage or a recovery takes here

describe("when the origin is killed", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack(vars);
    stack.proxy.behaviour = withLifetimes(lifetimes);
  });
  after(() => stack.close());

  test("every request is answered 200, stale and marked, until the lifetimes are over; and fresh soon after it is back", async () => {
    const first = await stack.edge.fetchMany(requests);
    await stack.origin.kill();
    const seen = await watchUntil("status 503", first); // what is in KV may be used for as long, and no longer
    assert.deepEqual(seen, [...phases, "status 503"], "one phase after the other");
    await stack.origin.start();
    await watchUntil("fresh");
  });

  /** Sends requests without a break until all are answered in a phase. Gives the phases seen, in order. */
  async function watchUntil(last: string, first: ClientResult[] = []): Promise<string[]> {
    const seen = new Set(first.map(phaseOf));
    for (const end = Date.now() + longestSeconds * 1000; Date.now() < end; await sleep(5)) {
      const current = (await stack.edge.fetchMany(requests)).map(phaseOf);
      for (const phase of current) seen.add(phase);
      if (current.every((phase) => phase === last)) return [...seen];
    }
    assert.fail(`after ${longestSeconds} s not every response is ${last}: ${[...seen]}`);
  }

  test("an outage costs one client the wait for the origin, and later ones nothing", async () => {
    const target = "/api/trending?region=CZ";
    const expired = { maxAge: 0, staleWhileRevalidate: 0, staleIfError: 600 };
    stack.proxy.behaviour = withLifetimes(expired);
    const patient = await Edge.start(stack.proxy.url, { ...vars, ORIGIN_BACKOFF_SECONDS: "86400" }); // drawn from 0 on
    try {
      await patient.fetch(target);
      await stack.origin.kill();
      const results = await patient.fetchMany(
        Array.from({ length: 20 }, () => ({ target })),
        1,
      );
      const waited = results.map(({ cacheStatus }) => cacheStatus.includes("fwd=stale"));
      assert.deepEqual(waited, [true, ...Array<boolean>(19).fill(false)]);
      assert.ok(results.every(({ cacheStatus }) => cacheStatus.endsWith("detail=stale-if-error")));
    } finally {
      await patient.close();
    }
  });

  test("a data centre with empty caches serves front pages from KV, and 503 for what is not there", async () => {
    stack.proxy.behaviour = passOn;
    await stack.origin.start();
    const key = "stored-responses-3/PL/day";
    const store = await stack.edge.fallbackStore();
    while ((await store.get(key)) === null) await stack.edge.fetch("/api/trending?region=PL");
    await stack.origin.kill();
    const cold = await Edge.start(stack.proxy.url, vars);
    try {
      await (await cold.fallbackStore()).put(key, (await store.get(key)) ?? "");
      const front = await cold.fetch("/api/trending", { country: "AT" });
      assert.equal(front.status, 503, "Austria's list is in no cache: Poland's is not good enough");
      let polish = await cold.fetch("/api/trending", { country: "LV" });
      while (polish.status === 503) polish = await cold.fetch("/api/trending", { country: "LV" }); // KV was slow
      assert.equal(polish.status, 200);
      assert.equal(JSON.parse(await polish.text()).region, "PL");
      assert.match(polish.headers.get("cache-status") ?? "", /; fwd=miss; .*detail=kv-fallback$/);
      assert.equal((await cold.fetch("/api/trending?region=PL&limit=3")).status, 503);
    } finally {
      await cold.close();
    }
  });
});

/** What a response says about its freshness. */
function phaseOf({ status, region, cacheStatus }: ClientResult): string {
  if (status !== 200) return `status ${status}`;
  assert.ok(region !== null);
  return /detail=(.*)$/.exec(cacheStatus)?.[1] ?? "fresh";
}
