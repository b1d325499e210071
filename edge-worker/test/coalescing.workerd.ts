import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withLifetimes } from "./lifetimes.ts";
import { asItIs, type Behaviour } from "./network.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

const crowd = (target: string) => Array.from({ length: 500 }, () => ({ target }));

describe("500 requests at once", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
  });
  after(() => stack.close());

  test("for a cold key make one request to the origin", async () => {
    const seen = await stack.edge.crowd(crowd("/api/trending?region=SE"), 500);
    assert.ok(seen.every(({ status, region }) => status === 200 && region === "SE"));
    assert.deepEqual(stack.network.asked, ["/api/trending?region=SE"]);
    const collapsed = seen.filter(({ cacheStatus }) => cacheStatus.includes("collapsed"));
    assert.ok(collapsed.length > 400, `only ${collapsed.length} say that they were collapsed`);
  });

  test("for a stale key are all answered while one renewal is under way", async () => {
    stack.network.behaviour = withLifetimes({ fresh: 1, stale: 600, staleIfError: 600, browser: 1 });
    await stack.edge.fetch("/api/trending?region=DK");
    await sleep(1100); // until it is stale
    stack.network.asked = [];
    const { behaviour, release, reached } = holdBack(stack.network.behaviour);
    stack.network.behaviour = behaviour;
    const seen = await stack.edge.crowd(crowd("/api/trending?region=DK"), 500);
    await reached; // nobody waited for the renewal, so it may come later than the answers
    assert.ok(seen.every(({ cacheStatus }) => cacheStatus.includes("hit; ttl=-")));
    assert.deepEqual(stack.network.asked, ["/api/trending?region=DK"]);
    release();
  });

  test("go on when the visitor who caused the miss has left", async () => {
    stack.network.asked = [];
    const { behaviour, release, reached } = holdBack(asItIs);
    stack.network.behaviour = behaviour;
    const leaving = new AbortController();
    const left = stack.edge.fetch("/api/trending?region=CZ", { signal: leaving.signal });
    await reached;
    leaving.abort();
    await assert.rejects(left);
    const staying = stack.edge.crowd(crowd("/api/trending?region=CZ"), 500);
    await sleep(100); // until they wait with it
    release();
    assert.ok((await staying).every(({ status }) => status === 200));
    assert.deepEqual(stack.network.asked, ["/api/trending?region=CZ"]);
  });

  test("in another isolate of the data centre find what the first has stored", async () => {
    await stack.edge.fetch("/api/trending?region=PT&window=day");
    stack.network.asked = [];
    const outcome = await stack.edge.busy({
      requests: 500,
      atOnce: 500,
      visitors: [{ country: "PT", region: "PT", share: 1 }],
      windows: [{ window: "day", share: 1 }],
    });
    assert.deepEqual(outcome, { wrong: 0, handled: { "trendvault; hit": 500 } });
    assert.deepEqual(stack.network.asked, []);
  });
});

/** Keeps every answer until it is released; `reached` resolves when the origin has been asked. */
function holdBack(then: Behaviour): { behaviour: Behaviour; release: () => void; reached: Promise<void> } {
  const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const behaviour: Behaviour = async (...handed) => {
    asked.resolve();
    await held.promise;
    return then(...handed);
  };
  return { behaviour, release: held.resolve, reached: asked.promise };
}
