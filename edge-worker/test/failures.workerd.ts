import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Edge } from "@trendvault/kit/edge";
import type { ClientResult } from "@trendvault/kit/fetch-many-worker";
import type { WholeResponse } from "@trendvault/kit/keys";
import { root, until } from "@trendvault/kit/machine";
import { type Behaviour, longLifetimes, passOn, withLifetimes } from "@trendvault/kit/origin-proxy";
import { unstable_readConfig as readConfig } from "wrangler";
import { edgeServes, startTestStack, type TestStack } from "./test-stack.ts";

// An outage of a day in seconds: fresh for 4 s, stale until 14 s, then stale-if-error until 24 s. A busy machine may
// stop for seconds, and has to be seen in each.
const lifetimes = { maxAge: 4, staleWhileRevalidate: 10, staleIfError: 20 };
const vars = { ORIGIN_BACKOFF_SECONDS: "0.5" };
const phases = ["fresh", "stale-while-revalidate", "stale-if-error"];
const requests = ["GB", "DE", "FR", "US"].map((country) => ({ target: "/api/trending", country }));
const longestSeconds = 600; // only a fault takes so long, however busy the machine is

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
    // KV's copy counts from when it was signed, which was after the edge had asked for it: it may last a moment longer.
    const others = seen.filter((phase) => phase !== "kv-fallback");
    assert.deepEqual(others, [...phases, "status 503"], "one phase after the other");
    await stack.origin.start();
    await watchUntil("fresh");
  });

  /** Sends requests without a break until all are answered in a phase. Gives the phases seen, in order. */
  async function watchUntil(last: string, first: ClientResult[] = []): Promise<string[]> {
    const seen = new Set(first.map(phaseOf));
    for (const end = Date.now() + longestSeconds * 1000; Date.now() < end; await sleep(50)) {
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
    await until(async () => {
      await stack.edge.fetch("/api/trending?region=PL");
      return (await store.get(key)) !== null;
    });
    await stack.origin.kill();
    const cold = await Edge.start(stack.proxy.url, vars);
    try {
      await (await cold.fallbackStore()).put(key, (await store.get(key)) ?? "");
      const front = await cold.fetch("/api/trending", { country: "AT" });
      assert.equal(front.status, 503, "Austria's list is in no cache: Poland's is not good enough");
      let polish = await cold.fetch("/api/trending", { country: "LV" });
      await until(async () => {
        if (polish.status === 503) polish = await cold.fetch("/api/trending", { country: "LV" }); // KV was slow
        return polish.status !== 503;
      });
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

const failingVars = { ORIGIN_TIMEOUT_SECONDS: "3", ORIGIN_BACKOFF_SECONDS: "0.001" };
const good = withLifetimes({ maxAge: 0, staleWhileRevalidate: 0, staleIfError: 43_200 }); // expired at once
const bad = Object.entries(badResponses());

// Each behaviour has targets of its own, so that none sees what another left behind.
const coldTarget = (index: number) => `/api/trending?region=IT&limit=${index + 1}`;
const storedTarget = (index: number) => `/api/trending?region=IT&window=now&limit=${index + 1}`;

describe("when the origin answers with", () => {
  let stack: TestStack;
  let older: Record<"PL" | "PT", WholeResponse>;
  const stored: string[] = [];

  before(async () => {
    stack = await startTestStack(failingVars);
    older = {
      PL: await record("/api/trending?region=PL"),
      PT: await record("/api/trending?region=PT"),
    };
    stack.proxy.behaviour = good;
    for (const index of bad.keys()) stored.push(await (await fetchGood(storedTarget(index))).text());
  });
  after(() => stack.close());

  async function record(target: string): Promise<WholeResponse> {
    const { promise, resolve } = Promise.withResolvers<WholeResponse>();
    stack.proxy.behaviour = (...args) => {
      if (args[1] === target) resolve(args[0]); // the edge asks for /api/regions, too
      return good(...args);
    };
    await stack.edge.fetch(target);
    return promise;
  }

  /** What the edge gives when the origin is good. A busy machine may take longer than its timeout. */
  async function fetchGood(target: string) {
    let response = await stack.edge.fetch(target);
    await until(async () => {
      if (response.status === 503) response = await stack.edge.fetch(target);
      return response.status !== 503;
    });
    assert.equal(response.status, 200);
    return response;
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
    assert.deepEqual([line.level, line.event], ["error", "origin_failed"]);
    assert.match(line.reason, /^(status 500|timed-out)$/); // a busy machine may take longer than the edge waits
    assert.match(String(line.trace_id), /^[0-9a-f]{32}$/);
    assert.doesNotMatch(logs.join(), /192\.0\.2\./);
  });
});

/**
 * What can come back instead of the response, by what it is: what workerd's fetch and its cryptography make of it. What
 * a response must be to be taken, src/origin.test.ts says case by case.
 */
function badResponses(): Record<string, Behaviour> {
  return {
    "status 500": () => ({
      status: 500,
      headers: { "content-type": "application/json" },
      body: Buffer.from("{}"),
    }),
    "a redirect": () => ({ status: 302, headers: { location: "/api/trending" }, body: Buffer.alloc(0) }),
    "half a body, then a closed connection": ({ status, headers, body }, _, response) => {
      response.writeHead(status, headers).write(body.subarray(0, body.length / 2), () => response.destroy());
      return "handled";
    },
    "half a body that says it is whole": (whole) => ({
      ...withoutLength(whole),
      body: whole.body.subarray(0, whole.body.length / 2),
    }),
    "a body with another title and its digest": async (whole) => {
      const body = Buffer.from(whole.body.toString().replace("Video", "Vixen"));
      const digest = Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("base64");
      return { ...whole, headers: { ...whole.headers, "unencoded-digest": `sha-256=:${digest}:` }, body };
    },
    "20 MB": (whole) => ({ ...withoutLength(whole), body: Buffer.alloc(20_000_000, " ") }),
    "a closed connection": (_whole, _target, response) => {
      response.destroy();
      return "handled";
    },
    "no response within the timeout": () => "handled",
  };
}

function withoutLength({ headers: { "content-length": _, ...headers }, ...whole }: WholeResponse) {
  return { ...whole, headers };
}

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
    await stack.edge.record([{ target: "/api/trending?region=PT&window=day" }]); // and until it is stored
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

describe("cache-busting", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    await stack.edge.record([{ target: "/api/trending?region=DE&window=week&limit=10" }]); // and until it is stored
    stack.proxy.targets = [];
  });
  after(() => stack.close());

  const busting: [string, number, string[]][] = [
    ["unknown parameters", 400, Array.from({ length: 100 }, (_, n) => `?x=${n + 1}`)],
    [
      "the same, reordered, re-cased and encoded",
      200,
      [
        "?limit=10&window=week&region=DE",
        "?region=de&window=week&limit=10",
        "?region=dE&limit=10&window=week",
        "?%72egion=%44%45&window=w%65ek&limit=%31%30",
        "?&&region=DE&window=week&&limit=10&",
        "?region=DE&window=week&limit=10#fragment",
      ],
    ],
    ["other paths", 404, ["/", "//", "/DE", "%2F", "/..;/trending"]],
  ];

  for (const [name, status, endings] of busting) {
    test(`with ${name}: ${status}, and the origin sees nothing of it`, async () => {
      for (const ending of endings) {
        const response = await stack.edge.fetch(`/api/trending${ending}`);
        await response.body?.cancel();
        assert.equal(response.status, status, ending);
        if (status === 200) assert.match(response.headers.get("cache-status") ?? "", /^trendvault; hit; /);
      }
      assert.deepEqual(stack.proxy.targets, []);
    });
  }

  test("with targets of any length: 414, and the origin sees nothing of it", async () => {
    const response = await stack.edge.fetch(`/api/trending?category=${"a".repeat(3000)}`);
    assert.equal(response.status, 414);
    assert.deepEqual(stack.proxy.targets, []);
  });

  test("with categories, languages and generations that never were: the origin is asked what there is, and nothing else", async () => {
    stack.proxy.targets = [];
    const began = performance.now();
    for (let n = 0; n < 20; n++) {
      const response = await stack.edge.fetch(`/api/trending?region=DE&category=Nonsense${n}`);
      assert.equal(response.status, 400);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.match(JSON.parse(await response.text()).detail, /expected one of Kids' TV, Music/);
      const language = `${String.fromCharCode(97 + n)}q`;
      const unlisted = await stack.edge.fetch(`/api/trending?region=DE&language=${language}`);
      assert.match(JSON.parse(await unlisted.text()).detail, /^language: expected one of de$/);
      const gone = await stack.edge.fetch(`/api/trending?region=DE&cursor=${1000 + n}-24`);
      await gone.body?.cancel();
      assert.equal(gone.status, 410);
    }
    assert.ok(stack.proxy.targets.every((target) => target === "/api/regions"));
    const most = 5 + (performance.now() - began) / 1000; // a statement is trusted for a second at least
    assert.ok(stack.proxy.targets.length < most, `${stack.proxy.targets.length} requests`);
  });

  test("with cursors that are no page's: 400, and the origin sees nothing of it", async () => {
    stack.proxy.targets = [];
    for (const ending of ["cursor=1-1", "cursor=1-25", "limit=7&cursor=1-24", "cursor=1-504"]) {
      const response = await stack.edge.fetch(`/api/trending?region=DE&${ending}`);
      await response.body?.cancel();
      assert.equal(response.status, 400, ending);
    }
    assert.deepEqual(stack.proxy.targets, []);
  });

  test("with countless good lists: a network over its limit gets 429 for misses, and all hits", async () => {
    const headers = { "cf-connecting-ip": "2001:db8:1:2:3::1" };
    const others = { "cf-connecting-ip": "2001:db8:1:3::1" };
    const [hit, miss] = ["/api/trending?region=DE&window=week&limit=10", "/api/trending?region=FR&limit=7"];
    stack.proxy.targets = [];
    const recordings = await stack.edge.record([
      { target: miss, headers, allowed: false },
      { target: hit, headers, allowed: false },
      { target: miss, headers: others },
      { target: miss, headers, allowed: false },
    ]);
    assert.deepEqual(
      recordings.map(({ status, limiterKeys }) => [status, ...limiterKeys]),
      [[429, "2001:db8:1:2"], [200], [200, "2001:db8:1:3"], [200]],
    );
    assert.deepEqual(stack.proxy.targets, [miss]);
  });

  test("with stale lists: revalidating them counts as well, so that nobody keeps any number of them alive", async () => {
    const headers = { "cf-connecting-ip": "2001:db8:1:5::1" };
    const target = "/api/trending?region=CZ&limit=9";
    stack.proxy.behaviour = withLifetimes({ maxAge: 0, staleWhileRevalidate: 600, staleIfError: 600 });
    await stack.edge.record([{ target }]);
    stack.proxy.targets = [];
    const recordings = await stack.edge.record([
      { target, headers, allowed: false },
      { target, headers },
    ]);
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    assert.deepEqual(
      recordings.map(({ status, limiterKeys }) => [status, ...limiterKeys]),
      [
        [200, "2001:db8:1:5"],
        [200, "2001:db8:1:5"],
      ],
    );
    assert.deepEqual(stack.proxy.targets, [target], "the first one was refused, in the background");
  });

  test("the limit of wrangler.toml is 120 misses a minute, or more where two minutes meet", async () => {
    const headers = { "cf-connecting-ip": "2001:db8:1:4::1" };
    let [allowed, refused] = [0, 0];
    for (let first = 1; first <= 1000 && refused === 0; first += 20) {
      const misses = Array.from({ length: 20 }, (_, n) => `/api/videos/none-${first + n}`);
      const results = await stack.edge.fetchMany(misses.map((target) => ({ target, headers })));
      refused = results.filter(({ status }) => status === 429).length;
      allowed += results.length - refused;
    }
    assert.ok(allowed >= 120 && refused > 0, `${allowed} misses were allowed`);
    const { ratelimits } = readConfig({ config: join(root, "wrangler.toml"), env: "" });
    let refusal = await stack.edge.fetch("/api/videos/one-more", { headers });
    await until(async () => {
      if (refusal.status !== 429)
        refusal = await stack.edge.fetch(`/api/videos/more-${++allowed}`, { headers }); // a new minute
      return refusal.status === 429;
    });
    assert.equal(refusal.headers.get("retry-after"), String(ratelimits[0]?.simple.period));
  });
});
