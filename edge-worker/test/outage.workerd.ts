import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Edge } from "./edge.ts";
import { withLifetimes } from "./lifetimes.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

// A minute without the origin, ten times as fast: fresh for 1 s, stale for 1 s, then stale-if-error for 2 s, then KV.
const lifetimes = { fresh: 1, stale: 1, staleIfError: 3, browser: 1 };
const outageSeconds = 6;
const vars = { ORIGIN_BACKOFF_SECONDS: "0.5", ORIGIN_TIMEOUT_SECONDS: "1" };
const visitors = ["GB", "DE", "FR", "US"].map((country) => ({ target: "/api/trending", country }));

describe("when the origin is killed", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack(vars);
    stack.network.behaviour = withLifetimes(lifetimes);
  });
  after(() => stack.close());

  test("every request is answered 200: stale, then from KV, marked; and fresh soon after it is back", async () => {
    await stack.edge.crowd(visitors);
    await stack.origin.kill();
    const details = await visitFor(outageSeconds);
    assert.deepEqual(details, ["fresh", "stale-while-revalidate", "stale-if-error", "kv-fallback"]);
    await stack.origin.start();
    const back = await visitUntilFresh();
    assert.ok(
      back.seconds < 10,
      `it took ${back.seconds} s, with a pause of ${vars.ORIGIN_BACKOFF_SECONDS} s`,
    );
  });

  /** Visits without a break. Gives each thing that answers said about their freshness, in order. */
  async function visitFor(seconds: number): Promise<string[]> {
    const details: string[] = [];
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(5)) {
      for (const { status, region, cacheStatus } of await stack.edge.crowd(visitors)) {
        assert.equal(status, 200);
        assert.ok(region);
        assert.ok(!cacheStatus.includes("fwd="), `a visitor waited: ${cacheStatus}`);
        const detail = /detail=(.*)$/.exec(cacheStatus)?.[1] ?? "fresh";
        if (!details.includes(detail)) details.push(detail);
      }
    }
    return details;
  }

  async function visitUntilFresh(): Promise<{ seconds: number }> {
    const start = Date.now();
    for (;;) {
      const seen = await stack.edge.crowd(visitors);
      const seconds = (Date.now() - start) / 1000;
      assert.ok(seen.every(({ status }) => status === 200));
      if (seen.every(({ cacheStatus }) => !cacheStatus.includes("detail=")) || seconds > 10)
        return { seconds };
      await sleep(20);
    }
  }

  test("a data centre that holds nothing serves front pages from KV, and 503 for what is not there", async () => {
    await stack.origin.kill();
    const cold = await Edge.start(stack.network.url, vars);
    try {
      const [from, to] = [await stack.edge.fallbackStore(), await cold.fallbackStore()];
      const key = "stored-responses-2/DE/day";
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
