import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Edge } from "@trendvault/kit/edge";
import { newFolder, root, until } from "@trendvault/kit/machine";
import { EdgeOrigin } from "@trendvault/kit/origin-process";
import { longLifetimes, withLifetimes } from "@trendvault/kit/origin-proxy";
import { countries, europeByRegion, worldRegions, worldTerritories } from "@trendvault/kit/regions";
import { makeDatabase, type TestDatabase } from "./database.ts";
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

describe("an edge that was built for two hundred regions", () => {
  const codes = worldRegions().regions.map(({ code }) => code);
  const folder = newFolder("regions");
  const regionsFile = join(folder, "regions.json");
  let database: TestDatabase;
  let origin: EdgeOrigin;
  let edge: Edge;
  before(async () => {
    writeFileSync(regionsFile, JSON.stringify(worldRegions()));
    database = makeDatabase(0, { regions: codes, videosPerRegion: 1, regionsFile });
    origin = await EdgeOrigin.start(database.path, { REGIONS_FILE: regionsFile });
    edge = await Edge.start(origin.url, {}, regionsFile);
  });
  after(async () => {
    await edge.close();
    await origin.kill();
    database.remove();
    rmSync(folder, { recursive: true });
  });

  test("gives visitors the region that their country is or falls to, or else the default", async () => {
    const of = [...new Set(worldTerritories.values()), "JP", "ZW"].map((code) => [code, code] as const);
    for (const [country, region] of [...worldTerritories, ...of, ["AQ", "US"], [undefined, "US"]] as const) {
      const { items, ...list } = await read(edge, "/api/trending", country);
      assert.equal(list.region, region, `for ${country}`);
      assert.equal(items[0]?.id, `${region.toLowerCase()}-0`);
    }
  });

  test("is compared with the regions that are published: one that was built for others is refused", async () => {
    const same = await compare(edge);
    assert.equal(same.code, 0, same.said);
    assert.match(
      same.said,
      new RegExp(`^The edge has the regions that are published: ${codes.join(", ")}\\.`),
    );
    const other = await Edge.start(origin.url);
    try {
      const { code, said } = await compare(other);
      assert.equal(code, 1);
      assert.ok(said.startsWith("The edge was built for the regions GB, DE, FR,"), said);
      assert.ok(said.includes(codes.join(", ")), said);
    } finally {
      await other.close();
    }
  });
});

const compareRegions = join(root, "edge-worker/compare-regions.ts");

type List = { region: string; items: { id: string }[] };

/** On a busy machine a list may take the origin longer than the edge waits. */
async function read(edge: Edge, target: string, country: string | undefined): Promise<List> {
  let response = await edge.fetch(target, { country });
  await until(async () => {
    if (response.status === 503) response = await edge.fetch(target, { country });
    return response.status !== 503;
  });
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as List;
}

/** What a deployment runs. */
function compare({ url }: Edge): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const program = execFile("bun", [compareRegions, url], (_, out, said) =>
      resolve({ code: program.exitCode, said: out + said }),
    );
  });
}
