import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { unstable_readConfig as readConfig } from "wrangler";
import { root } from "./edge.ts";
import { longLifetimes, withLifetimes } from "./lifetimes.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

describe("cache-busting", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
    stack.proxy.behaviour = withLifetimes(longLifetimes);
    await stack.edge.fetch("/api/trending?region=DE&window=week&limit=10");
    stack.proxy.targets = [];
  });
  after(() => stack.close());

  const busting: [string, number, string[]][] = [
    ["unknown parameters", 400, Array.from({ length: 100 }, (_, n) => `?x=${n + 1}`)],
    [
      "unknown parameters beside good ones",
      400,
      ["?region=DE&window=week&limit=10&_=1", "?region=DE&utm_source=a"],
    ],
    ["repeated parameters", 400, ["?region=DE&region=DE", "?limit=10&region=DE&limit=10"]],
    ["parameters in another case", 400, ["?Region=DE", "?region=DE&WINDOW=week"]],
    [
      "values in another form",
      400,
      ["?limit=010", "?limit=+10", "?limit=1e1", "?window=Week", "?region=D%45%20"],
    ],
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
    const most = 5 + (performance.now() - began) / 10_000; // a statement is trusted for 10 s
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
    while (refusal.status !== 429)
      refusal = await stack.edge.fetch(`/api/videos/more-${++allowed}`, { headers }); // a new minute
    assert.equal(refusal.headers.get("retry-after"), String(ratelimits[0]?.simple.period));
  });
});
