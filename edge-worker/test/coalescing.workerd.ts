import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withLifetimes } from "./lifetimes.ts";
import type { Behaviour } from "./network.ts";
import { makeWorld, type World } from "./world.ts";

const crowd = (target: string) => Array.from({ length: 500 }, () => ({ target }));

describe("500 requests at once", () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world.close());

  test("for a cold key make one request to the origin", async () => {
    const seen = await world.edge.crowd(crowd("/api/trending?region=SE"), 500);
    assert.ok(seen.every(({ status, region }) => status === 200 && region === "SE"));
    assert.deepEqual(world.network.asked, ["/api/trending?region=SE"]);
    const collapsed = seen.filter(({ cacheStatus }) => cacheStatus.includes("collapsed"));
    assert.ok(collapsed.length > 400, `only ${collapsed.length} say that they were collapsed`);
  });

  test("for a stale key are all answered while one renewal is under way", async () => {
    world.network.behaviour = withLifetimes({ fresh: 1, stale: 600, staleIfError: 600, browser: 1 });
    await world.edge.fetch("/api/trending?region=DK");
    await sleep(1100); // until it is stale
    world.network.asked = [];
    const { behaviour, release } = holdBack(world.network.behaviour);
    world.network.behaviour = behaviour;
    const seen = await world.edge.crowd(crowd("/api/trending?region=DK"), 500);
    assert.ok(seen.every(({ cacheStatus }) => cacheStatus.includes("hit; ttl=-")));
    assert.deepEqual(world.network.asked, ["/api/trending?region=DK"]);
    release();
  });
});

/** Keeps every answer until it is released. */
function holdBack(then: Behaviour): { behaviour: Behaviour; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { behaviour: (...handed) => promise.then(() => then(...handed)), release: resolve };
}
