import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Edge } from "./edge.ts";
import type { ClientResult } from "./fetch-many-worker.ts";
import { withLifetimes } from "./lifetimes.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

// An outage of minutes in seconds: fresh for 2 s, stale until 6 s, then stale-if-error until 10 s, then KV.
const lifetimes = { maxAge: 2, staleWhileRevalidate: 4, staleIfError: 8 };
const vars = { ORIGIN_BACKOFF_SECONDS: "0.5", ORIGIN_TIMEOUT_SECONDS: "3" };
const phases = ["fresh", "stale-while-revalidate", "stale-if-error", "kv-fallback"];
const requests = ["GB", "DE", "FR", "US"].map((country) => ({ target: "/api/trending", country }));
const longestSeconds = 60; // far more than an outage or a recovery takes here

describe("when the origin is killed", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack(vars);
    stack.proxy.behaviour = withLifetimes(lifetimes);
  });
  after(() => stack.close());

  test("every request is answered 200: stale, then from KV, marked; and fresh soon after it is back", async () => {
    await stack.edge.fetchMany(requests);
    await stack.origin.kill();
    const seen = await watchUntil("kv-fallback");
    assert.deepEqual(seen, phases, "one phase after the other");
    await stack.origin.start();
    await watchUntil("fresh");
  });

  /** Sends requests without a break until all are answered in a phase. Gives the phases seen, in order. */
  async function watchUntil(last: string): Promise<string[]> {
    const seen = new Set<string>();
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
    await stack.edge.fetch(target);
    await stack.origin.kill();
    const results = await stack.edge.fetchMany(
      Array.from({ length: 20 }, () => ({ target })),
      1,
    );
    const waited = results.map(({ cacheStatus }) => cacheStatus.includes("fwd=stale"));
    assert.deepEqual(waited, [true, ...Array<boolean>(19).fill(false)]);
    assert.ok(results.every(({ cacheStatus }) => cacheStatus.endsWith("detail=stale-if-error")));
  });

  test("a data centre with empty caches serves front pages from KV, and 503 for what is not there", async () => {
    await stack.origin.kill();
    const cold = await Edge.start(stack.proxy.url, vars);
    try {
      const [from, to] = [await stack.edge.fallbackStore(), await cold.fallbackStore()];
      const key = "stored-responses-3/DE/day";
      await to.put(key, (await from.get(key)) ?? "");
      const front = await cold.fetch("/api/trending", { country: "AT" });
      assert.equal(front.status, 503, "Austria's list is in no cache: Germany's is not good enough");
      const german = await cold.fetch("/api/trending", { country: "CH" });
      assert.equal(german.status, 200);
      assert.equal(JSON.parse(await german.text()).region, "DE");
      assert.match(german.headers.get("cache-status") ?? "", /; fwd=miss; .*detail=kv-fallback$/);
      assert.equal((await cold.fetch("/api/trending?region=DE&limit=3")).status, 503);
    } finally {
      await cold.close();
    }
  });
});

/** What a response says about its freshness. */
function phaseOf({ status, region, cacheStatus }: ClientResult): string {
  assert.ok(status === 200 && region !== null);
  return /detail=(.*)$/.exec(cacheStatus)?.[1] ?? "fresh";
}
