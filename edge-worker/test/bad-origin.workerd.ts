import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { badResponses, type Others } from "./bad-responses.ts";
import { withLifetimes } from "./lifetimes.ts";
import type { Answer } from "./network.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

const vars = { ORIGIN_TIMEOUT_SECONDS: "0.7", ORIGIN_BACKOFF_SECONDS: "0.001" };
const good = withLifetimes({ fresh: 1, stale: 0, staleIfError: 600, browser: 1 });
const others = {} as Others;
const bad = Object.entries(badResponses(others));

// Each behaviour has targets of its own, so that none sees what another left behind.
const coldTarget = (index: number) => `/api/trending?region=IT&limit=${index + 1}`;
const heldTarget = (index: number) => `/api/trending?region=IT&window=now&limit=${index + 1}`;

describe("when the origin answers with", () => {
  let stack: TestStack;
  let older: Record<"PL" | "PT", Answer>;
  const held: string[] = [];

  before(async () => {
    stack = await startTestStack(vars);
    older = {
      PL: await record("/api/trending?region=PL"),
      PT: await record("/api/trending?region=PT"),
    };
    others.region = await record("/api/trending?region=FR");
    others.window = await record("/api/trending?region=IT&window=week");
    others.limit = await record("/api/trending?region=IT&limit=40");
    stack.network.behaviour = good;
    for (const index of bad.keys()) held.push(await (await stack.edge.fetch(heldTarget(index))).text());
    await sleep(1100); // until what is held has expired
  });
  after(() => stack.close());

  async function record(target: string): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    stack.network.behaviour = (...handed) => {
      resolve(handed[0]);
      return good(...handed);
    };
    await stack.edge.fetch(target);
    return promise;
  }

  for (const [index, [name, behaviour]] of bad.entries()) {
    test(`${name}, what is held is served and marked`, async () => {
      stack.network.behaviour = behaviour;
      const response = await stack.edge.fetch(heldTarget(index));
      assert.equal(response.status, 200);
      assert.equal(await response.text(), held[index]);
      assert.match(response.headers.get("cache-status") ?? "", /; fwd=stale; .*detail=stale-if-error$/);
    });

    test(`${name} and nothing is held, it is 503 and nothing is stored`, async () => {
      stack.network.behaviour = behaviour;
      const refused = await stack.edge.fetch(coldTarget(index));
      assert.equal(refused.status, 503);
      assert.equal(refused.headers.get("content-type"), "application/problem+json");
      assert.ok(refused.headers.get("retry-after"));
      stack.network.behaviour = good;
      const response = await stack.edge.fetch(coldTarget(index));
      assert.equal(response.status, 200);
      assert.match(response.headers.get("cache-status") ?? "", /; fwd=miss; fwd-status=200; stored; /);
      assert.ok(stack.network.bodies.get(coldTarget(index))?.has(await response.text()));
    });
  }

  test("an older generation than the one held, the newer is served and kept", async () => {
    stack.network.behaviour = good;
    stack.database.publish();
    await published(2);
    await stack.edge.fetch("/api/trending?region=PL"); // expired: asks
    await sleep(1100); // until that has expired too
    stack.network.behaviour = () => older.PL;
    const response = await stack.edge.fetch("/api/trending?region=PL");
    assert.equal(JSON.parse(await response.text()).generation, 2);
    assert.match(response.headers.get("cache-status") ?? "", /detail=stale-if-error$/);
  });

  test("an older generation when what was held has run out, it is served: the database may be a restored one", async () => {
    const target = "/api/trending?region=PT";
    stack.network.behaviour = withLifetimes({ fresh: 1, stale: 0, staleIfError: 0, browser: 1 });
    const newer = await stack.edge.fetch(target);
    assert.equal(JSON.parse(await newer.text()).generation, 2);
    await sleep(1100); // until that is of no use
    stack.network.behaviour = () => older.PT;
    const response = await stack.edge.fetch(target);
    assert.equal(response.status, 200);
    assert.equal(JSON.parse(await response.text()).generation, 1);
  });

  test("any of these, the log says what was wrong, and nothing about the visitor", () => {
    const logs = stack.edge.logs();
    const target = coldTarget(0);
    const line = logs.map((text) => JSON.parse(text)).find((parsed) => parsed.target === target);
    assert.deepEqual(Object.keys(line), ["time", "level", "event", "message", "target", "reason"]);
    assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual([line.level, line.event, line.reason], ["error", "origin_failed", "status 500"]);
    assert.doesNotMatch(logs.join(), /192\.0\.2\./);
  });

  /** Resolves when the origin serves the generation, which it does soon after it was published. */
  async function published(generation: number): Promise<void> {
    for (let limit = 1; limit <= 50; limit++) {
      const response = await stack.edge.fetch(`/api/trending?region=NL&limit=${limit}`);
      if (JSON.parse(await response.text()).generation === generation) return;
      await sleep(20);
    }
    assert.fail(`the origin does not serve generation ${generation}`);
  }
});
