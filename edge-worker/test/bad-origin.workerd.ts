import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { defaultLimit } from "@trendvault/contract/lists";
import { badResponses, type OtherResponses } from "./bad-responses.ts";
import { withLifetimes } from "./lifetimes.ts";
import type { WholeResponse } from "./origin-proxy.ts";
import { edgeServes, startTestStack, type TestStack } from "./test-stack.ts";

const vars = { ORIGIN_TIMEOUT_SECONDS: "3", ORIGIN_BACKOFF_SECONDS: "0.001" };
const good = withLifetimes({ maxAge: 0, staleWhileRevalidate: 0, staleIfError: 43_200 }); // expired at once
const others = {} as OtherResponses;
const bad = Object.entries(badResponses(others));

// Each behaviour has targets of its own, so that none sees what another left behind.
const coldTarget = (index: number) => `/api/trending?region=IT&limit=${limitOf(index)}`;
const storedTarget = (index: number) => `/api/trending?region=IT&window=now&limit=${limitOf(index)}`;
const limitOf = (index: number) => (index < defaultLimit - 1 ? index + 1 : index + 2); // the default is in no URL

describe("when the origin answers with", () => {
  let stack: TestStack;
  let older: Record<"PL" | "PT", WholeResponse>;
  const stored: string[] = [];

  before(async () => {
    stack = await startTestStack(vars);
    older = {
      PL: await record("/api/trending?region=PL"),
      PT: await record("/api/trending?region=PT"),
    };
    others.region = await record("/api/trending?region=FR");
    others.window = await record("/api/trending?region=IT&window=week");
    others.limit = await record("/api/trending?region=IT&limit=40");
    others.missing = await record("/api/videos/none");
    others.nextPage = await record("/api/trending?region=IT&cursor=1-24");
    stack.proxy.behaviour = good;
    for (const index of bad.keys()) stored.push(await (await fetchGood(storedTarget(index))).text());
  });
  after(() => stack.close());

  async function record(target: string): Promise<WholeResponse> {
    const { promise, resolve } = Promise.withResolvers<WholeResponse>();
    stack.proxy.behaviour = (...args) => {
      resolve(args[0]);
      return good(...args);
    };
    await stack.edge.fetch(target);
    return promise;
  }

  /** What the edge gives when the origin is good. A busy machine may take longer than its timeout. */
  async function fetchGood(target: string) {
    for (;;) {
      const response = await stack.edge.fetch(target);
      if (response.status === 200) return response;
      assert.equal(response.status, 503);
    }
  }

  for (const [index, [name, behaviour]] of bad.entries()) {
    test(`${name}, the expired response is served and marked`, async () => {
      stack.proxy.behaviour = behaviour;
      const response = await stack.edge.fetch(storedTarget(index));
      assert.equal(response.status, 200);
      assert.equal(await response.text(), stored[index]);
      assert.match(response.headers.get("cache-status") ?? "", /; fwd=stale; .*detail=stale-if-error$/);
    });

    test(`${name} and nothing is stored, it is 503 and nothing gets stored`, async () => {
      stack.proxy.behaviour = behaviour;
      const refused = await stack.edge.fetch(coldTarget(index));
      assert.equal(refused.status, 503);
      assert.equal(refused.headers.get("content-type"), "application/problem+json");
      assert.ok(refused.headers.get("retry-after"));
      stack.proxy.behaviour = good;
      const response = await fetchGood(coldTarget(index));
      assert.match(response.headers.get("cache-status") ?? "", /; fwd=miss; fwd-status=200; stored; /);
      assert.ok(stack.proxy.bodies.get(coldTarget(index))?.has(await response.text()));
    });
  }

  test("an older generation than the stored one, the newer is served and stays stored", async () => {
    stack.proxy.behaviour = good;
    stack.database.publish();
    await edgeServes(stack, 2, ["/api/trending?region=PL"]);
    stack.proxy.behaviour = () => older.PL;
    const response = await stack.edge.fetch("/api/trending?region=PL");
    assert.equal(JSON.parse(await response.text()).generation, 2);
    assert.match(response.headers.get("cache-status") ?? "", /detail=stale-if-error$/);
  });

  test("an older generation when the stored one is unusable, it is served: the database may be a restored one", async () => {
    const target = "/api/trending?region=PT";
    stack.proxy.behaviour = withLifetimes({
      maxAge: 0,
      staleWhileRevalidate: 0,
      staleIfError: 0,
    });
    await edgeServes(stack, 2, [target]);
    stack.proxy.behaviour = () => older.PT;
    const response = await fetchGood(target);
    assert.equal(JSON.parse(await response.text()).generation, 1);
  });

  test("any of these, the log says what was wrong, and nothing about the visitor", () => {
    const logs = stack.edge.logs();
    const target = coldTarget(0);
    const line = logs.map((text) => JSON.parse(text)).find((parsed) => parsed.target === target);
    assert.deepEqual(Object.keys(line), [
      "time",
      "level",
      "event",
      "message",
      "target",
      "reason",
      "trace_id",
    ]);
    assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual([line.level, line.event, line.reason], ["error", "origin_failed", "status 500"]);
    assert.match(String(line.trace_id), /^[0-9a-f]{32}$/);
    assert.doesNotMatch(logs.join(), /192\.0\.2\./);
  });
});
