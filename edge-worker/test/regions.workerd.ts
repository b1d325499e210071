import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { countries } from "@trendvault/contract/test-support/world-regions";
import { europeByRegion } from "./countries.ts";
import { longLifetimes, withLifetimes } from "./lifetimes.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

const regionOf = new Map(
  Object.entries(europeByRegion).flatMap(([region, codes]) =>
    codes.split(" ").map((country) => [country, region]),
  ),
);

describe("the region of a visitor", () => {
  let stack: TestStack;
  before(async () => {
    stack = await startTestStack();
    stack.proxy.behaviour = withLifetimes(longLifetimes);
  });
  after(() => stack.close());

  test("is the right one for all 250 countries and for none, with the origin's own bytes", async () => {
    for (const country of [...countries, undefined]) {
      const region = regionOf.get(country ?? "") ?? "GB";
      const response = await stack.edge.fetch("/api/trending", { country });
      const body = await response.text();
      const target = `/api/trending?region=${region}`;
      assert.equal(response.headers.get("content-location"), target, `for ${country}`);
      assert.equal(JSON.parse(body).region, region);
      assert.ok(stack.proxy.bodies.get(target)?.has(body), `the body for ${country} is not the origin's`);
    }
    assert.equal(
      stack.proxy.targets.length,
      Object.keys(europeByRegion).length,
      "one request for each region",
    );
  });

  test("never becomes another's, a thousand times in turn", async () => {
    const turns = Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? "FR" : "PL"));
    const seen = await stack.edge.fetchMany(turns.map((country) => ({ target: "/api/trending", country })));
    assert.deepEqual(
      seen.map(({ region }) => region),
      turns,
    );
  });

  test("makes a response private; a region in the URL leaves it public", async () => {
    const chosen = await stack.edge.fetch("/api/trending?window=day", { country: "CH" });
    assert.match(
      chosen.headers.get("cache-control") ?? "",
      /^private, max-age=\d+, stale-while-revalidate=60$/,
    );
    assert.equal(chosen.headers.get("content-location"), "/api/trending?region=DE");
    const named = await stack.edge.fetch("/api/trending?region=de", { country: "FR" });
    assert.match(
      named.headers.get("cache-control") ?? "",
      /^public, max-age=\d+, stale-while-revalidate=60$/,
    );
    assert.equal(named.headers.get("content-location"), "/api/trending?region=DE");
    assert.equal(await named.text(), await chosen.text());
  });
});
