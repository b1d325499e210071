import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { longLifetimes, withLifetimes } from "./lifetimes.ts";
import { type Behaviour, passOn } from "./origin-proxy.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

const many = (target: string) => Array.from({ length: 500 }, () => ({ target }));
// Requests start in order: when this one reaches the origin, those before it are under way.
const marker = { target: "/api/regions" };

describe("500 requests at once", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
  });
  after(() => stack.close());

  test("for a cold key make one request to the origin", async () => {
    stack.proxy.behaviour = holdBack(passOn).behaviour;
    const results = (await stack.edge.fetchMany([...many("/api/trending?region=SE"), marker], 501)).slice(
      0,
      -1,
    );
    assert.ok(results.every(({ status, region }) => status === 200 && region === "SE"));
    assert.deepEqual(stack.proxy.targets.toSorted(), [marker.target, "/api/trending?region=SE"].toSorted());
    const collapsed = results.filter(({ cacheStatus }) => cacheStatus.includes("collapsed"));
    assert.ok(collapsed.length > 400, `only ${collapsed.length} say that they were collapsed`);
  });

  test("for a stale key are all answered while one revalidation is in flight", async () => {
    const stale = { maxAge: 0, staleWhileRevalidate: 600, staleIfError: 600 };
    stack.proxy.behaviour = withLifetimes(stale);
    await stack.edge.fetch("/api/trending?region=DK");
    stack.proxy.targets = [];
    const { behaviour, release, reached } = holdBack(stack.proxy.behaviour);
    stack.proxy.behaviour = behaviour;
    const results = await stack.edge.fetchMany(many("/api/trending?region=DK"), 500);
    await reached; // no client waited for the revalidation, so it may come later than the responses
    assert.ok(results.every(({ cacheStatus }) => /hit; .*stale-while-revalidate/.test(cacheStatus)));
    assert.deepEqual(stack.proxy.targets, ["/api/trending?region=DK"]);
    release();
  });

  test("go on when the client that caused the miss has left", async () => {
    stack.proxy.targets = [];
    const { behaviour, reached } = holdBack(passOn);
    stack.proxy.behaviour = behaviour;
    const leaving = new AbortController();
    const left = stack.edge.fetch("/api/trending?region=CZ", { signal: leaving.signal });
    await reached;
    leaving.abort();
    await assert.rejects(left);
    const otherMarker = { target: "/api/videos/cz-1" };
    const results = await stack.edge.fetchMany([...many("/api/trending?region=CZ"), otherMarker], 501);
    assert.ok(results.every(({ status }) => status === 200));
    assert.deepEqual(stack.proxy.targets, ["/api/trending?region=CZ", otherMarker.target]);
  });

  test("in another isolate of the data centre find what the first has stored", async () => {
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    await stack.edge.fetch("/api/trending?region=PT&window=day");
    stack.proxy.targets = [];
    const result = await stack.edge.runTraffic({
      requests: 500,
      concurrency: 500,
      clients: [{ country: "PT", region: "PT", share: 1 }],
      windows: [{ window: "day", share: 1 }],
    });
    assert.deepEqual(result, { wrong: 0, byCacheStatus: { "trendvault; hit": 500 } });
    assert.deepEqual(stack.proxy.targets, []);
  });
});

/**
 * Holds every list back until it is released, at the latest when something else is requested; `reached` resolves
 * when a list has been requested.
 */
function holdBack(then: Behaviour): { behaviour: Behaviour; release: () => void; reached: Promise<void> } {
  const [held, requested] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const behaviour: Behaviour = async (whole, target, response) => {
    requested.resolve();
    if (!target.startsWith("/api/trending")) held.resolve();
    await held.promise;
    return then(whole, target, response);
  };
  return { behaviour, release: held.resolve, reached: requested.promise };
}
