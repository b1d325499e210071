import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import type { PublicKeySet } from "@trendvault/contract/keys";
import type { RegionList, Video } from "@trendvault/contract/responses";
import { verifyIndependently } from "@trendvault/contract/test-support/independent-verifiers";
import { bundleKeySet, edgeSigningKey, objectsOf, renderBundle, storeName } from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { Edge } from "./edge.ts";
import { Origin } from "./origin.ts";
import { countedIn, counting, readList, send } from "./view-messages.ts";

const vars = {
  ...counting,
  ORIGIN_JWKS: bundleKeySet,
  BUNDLE_PREFIX: "gb,lists/de",
  BUNDLE_NAMES: ["gb", "lists/de"].map(storeName).join(),
  EDGE_KEYS: "",
  EDGE_SIGNING_KEY: edgeSigningKey,
};

let british: TestDatabase;
let german: TestDatabase;
let origin: Origin; // over a file that has both, to compare with
let keys: PublicKeySet;

before(async () => {
  british = makeDatabase(90, { regions: ["GB", "IE"], categories: ["Music", "Film"] });
  german = makeDatabase(30, { regions: ["DE", "FR"], categories: ["Music", "Sport"] });
  const joined = join(british.path, "../joined.db");
  joinDatabases(joined);
  origin = await Origin.start(joined);
});
after(async () => {
  await origin.kill();
  british.remove();
  german.remove();
});

/** As bin/follow does. */
function joinDatabases(path: string): void {
  const own = new DatabaseSync(british.path);
  own.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  own.close();
  copyFileSync(british.path, path);
  const database = new DatabaseSync(path);
  database.prepare("ATTACH ? AS other").run(german.path);
  const tables = [
    "videos",
    "generations",
    "generation_regions",
    "trending",
    "explored_ranks",
    "explanations",
  ];
  for (const table of [...tables, "velocity", "observations", "hourly_views"]) {
    database.exec(`INSERT INTO main.${table} SELECT * FROM other.${table}`);
  }
  database.close();
}

async function publish(edge: Edge, prefix: string, database: TestDatabase): Promise<void> {
  const bucket = await edge.bundles();
  const objects = await objectsOf(renderBundle(database.path), { prefix: `${prefix}/` });
  for (const [key, bytes] of objects) await bucket.put(key, bytes);
}

async function waitFor(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resume) => setTimeout(resume, 200));
}

async function read<T>(edge: Edge, target: string): Promise<T> {
  return (await (await edge.fetch(target)).json()) as T;
}

describe("an edge without an origin, over the stores of two writers", () => {
  let edge: Edge;
  before(async () => {
    edge = await Edge.start("", vars);
    await publish(edge, "gb", british);
    await publish(edge, "lists/de", german);
    keys = await read(edge, "/.well-known/jwks.json");
  });
  after(() => edge.close());

  const targets = ["GB", "IE", "DE", "FR"].flatMap((region) => [
    `/api/trending?region=${region}`,
    `/api/trending?region=${region}&window=week&category=Music&fields=snippet&limit=50`,
    `/api/trending?region=${region}&limit=7`,
    `/feeds/${region}.atom?window=now`,
    `/api/export/${region}.ndjson`,
    `/api/videos/${region.toLowerCase()}-3/explain?region=${region}`,
  ]);
  for (const target of [...targets, "/api/regions", "/api/about"]) {
    test(`serves ${target} as the origin does that has both, signed`, async () => {
      const [response, expected] = [
        await edge.fetch(target, { headers: { "accept-encoding": "identity" } }),
        await origin.fetch(target),
      ];
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal(withoutToken(await response.clone().text()), withoutToken(await expected.text()));
      await verifyIndependently({ status: 200, headers: new Headers([...response.headers]) }, keys);
    });
  }

  test("has the pages of all markets, and a cursor of each writer", async () => {
    for (const region of ["IE", "FR"]) {
      assert.equal((await edge.fetch(`/?region=${region}`)).status, 200);
      const { next, generation } = await read<{ next: string; generation: number }>(
        edge,
        `/api/trending?region=${region}&limit=24`,
      );
      assert.equal(generation, region === "IE" ? 256 : 1);
      assert.equal((await read<{ count: number }>(edge, next)).count, 16);
    }
  });

  test("has a video's ranks in the markets of the writer that knows it", async () => {
    for (const [id, region] of [
      ["ie-4", "IE"],
      ["de-4", "DE"],
    ] as const) {
      const { trending } = await read<Video>(edge, `/api/videos/${id}`);
      assert.deepEqual(new Set(trending.map((place) => place.region)), new Set([region]));
    }
    assert.equal((await edge.fetch("/api/videos/none")).status, 404);
  });

  test("refuses a market that nobody publishes, and a category of the other writer's markets alone", async () => {
    const elsewhere = await edge.fetch("/api/trending?region=ES");
    assert.deepEqual([elsewhere.status, elsewhere.headers.has("signature")], [404, false]);
    const category = await edge.fetch("/api/trending?region=GB&category=Sport");
    assert.equal(category.status, 400);
    assert.match(await category.text(), /expected one of Film, Music/);
    assert.equal((await edge.fetch("/api/trending?region=GB&category=None")).status, 400);
    assert.equal((await edge.fetch("/api/trending?region=DE&cursor=256-24")).status, 410);
  });

  test("counts looks at the lists of both", async () => {
    for (const region of ["GB", "DE"]) {
      const { token, ids } = await readList(edge, `/api/trending?region=${region}`);
      assert.equal((await send(edge, { token, seen: 0, opened: [3] })).status, 204);
      assert.deepEqual(await countedIn(edge, `${region}-0`), [[3, ids.get(3), 0, 1]]);
    }
  });

  test("one that publishes is fresh, and cursors of the other hold", async () => {
    const { next } = await read<{ next: string }>(edge, "/api/trending?region=GB&limit=24");
    const before = await (await edge.fetch(next)).text();
    german.publish();
    await publish(edge, "lists/de", german);
    await waitFor(async () => {
      const target = "/api/trending?region=FR&window=week&limit=50";
      return (await read<{ generation: number }>(edge, target)).generation === 257;
    });
    await waitFor(async () => {
      await edge.fetch("/api/trending?region=FR&category=None"); // what is refused needs a statement of now
      return (await read<RegionList>(edge, "/api/regions")).generation === 257;
    });
    const { regions } = await read<RegionList>(edge, "/api/regions");
    const generations = Object.fromEntries(regions.map(({ code, generation }) => [code, generation]));
    assert.deepEqual([generations.GB, generations.DE, generations.ES], [256, 257, null]);
    assert.equal(withoutToken(await (await edge.fetch(next)).text()), withoutToken(before));
    assert.equal((await edge.fetch("/api/trending?region=DE&cursor=1-24")).status, 200);
  });
});

describe("an edge over two stores of which one cannot be read, without a key", () => {
  let edge: Edge;
  before(async () => {
    const { EDGE_SIGNING_KEY: _, ...others } = vars;
    edge = await Edge.start("", { ...others, ORIGIN_BACKOFF_SECONDS: "0.5" });
    await publish(edge, "lists/de", german);
  });
  after(() => edge.close());

  test("has the lists of the other one", async () => {
    assert.equal((await edge.fetch("/api/trending?region=DE")).status, 200);
    assert.equal((await edge.fetch("/?region=FR")).status, 200);
    assert.equal((await edge.fetch("/api/trending?region=GB")).status, 503);
    assert.equal((await edge.fetch("/api/regions")).status, 503);
  });

  test("names the key that joining needs as soon as it reads both", async () => {
    await publish(edge, "gb", british);
    await waitFor(async () => (await edge.fetch("/api/trending?region=GB")).status === 200);
    await waitFor(async () => /EDGE_SIGNING_KEY/.test(await (await edge.fetch("/api/regions")).text()));
    assert.equal((await edge.fetch("/api/regions")).status, 503);
    assert.equal((await edge.fetch("/.well-known/jwks.json")).status, 200);
  });
});

/** A body without its token, whose minute differs. */
function withoutToken(body: string): string {
  return body.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, "");
}
