import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startTestStack, type TestStack } from "./test-stack.ts";

const tooMany = 429;

describe("cache-busting", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
    await stack.edge.fetch("/api/trending?region=DE&window=week&limit=10");
    stack.network.asked = [];
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
      assert.deepEqual(stack.network.asked, []);
    });
  }

  test("with addresses of any length: 414, and the origin sees nothing of it", async () => {
    const response = await stack.edge.fetch(`/api/trending?category=${"a".repeat(3000)}`);
    assert.equal(response.status, 414);
    assert.deepEqual(stack.network.asked, []);
  });

  test("with what the origin refuses: it is asked once in a while, not every time", async () => {
    for (let times = 0; times < 20; times++) {
      const response = await stack.edge.fetch("/api/trending?region=DE&category=Nonsense");
      assert.equal(response.status, 400);
      assert.equal(response.headers.get("cache-control"), "no-store");
      assert.match(JSON.parse(await response.text()).detail, /expected one of Gaming, Music/);
    }
    assert.deepEqual(stack.network.asked, ["/api/trending?region=DE&category=Nonsense"]);
  });

  test("with countless good lists: a visitor has so many misses a minute, and all hits they want", async () => {
    const untilMinute = 60_000 - (Date.now() % 60_000); // the local rate limiter counts by the clock's minutes
    if (untilMinute < 5000) await sleep(untilMinute);
    const headers = { "cf-connecting-ip": "2001:db8:1:2:3::1" };
    const others = { "cf-connecting-ip": "2001:db8:1:3::1" };
    const misses = Array.from({ length: 130 }, (_, n) => `/api/trending?region=FR&cursor=1-${n + 1}`);
    const seen = await stack.edge.crowd(misses.map((target) => ({ target, headers })));
    assert.equal(seen.filter(({ status }) => status === 200).length, 120);
    assert.equal(seen.filter(({ status }) => status === tooMany).length, 10);
    const next = { target: "/api/trending?region=FR&cursor=1-1&limit=7" };
    const hit = { target: "/api/trending?region=DE&window=week&limit=10" };
    const again = await stack.edge.crowd(
      [
        { ...next, headers },
        { ...hit, headers },
        { ...next, headers: others },
      ],
      1,
    );
    assert.deepEqual(
      again.map(({ status }) => status),
      [tooMany, 200, 200],
    );
  });
});
