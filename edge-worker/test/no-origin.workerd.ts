import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { windows } from "@trendvault/contract/lists";
import { bundleNames } from "@trendvault/contract/pointer";
import { trendingUrl } from "@trendvault/contract/queries";
import { verifyResponse } from "@trendvault/contract/response-signature";
import type { RegionList, Video } from "@trendvault/contract/responses";
import { verifyToken } from "@trendvault/contract/token";
import { Edge } from "@trendvault/kit/edge";
import { until } from "@trendvault/kit/machine";
import { EdgeOrigin } from "@trendvault/kit/origin-process";
import { Random } from "@trendvault/kit/random";
import { verifyIndependently } from "@trendvault/kit/verifiers";
import {
  bundleKeySet,
  edgeSigningKey,
  objectsOf,
  type Rendered,
  renderBundle,
  storeName,
} from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { countedIn, counting, readList, send } from "./view-messages.ts";

const vars = {
  ...counting,
  ORIGIN_JWKS: bundleKeySet,
  BUNDLE_PREFIX: "lists",
  BUNDLE_NAMES: storeName("lists"),
  EDGE_KEYS: "",
  EDGE_SIGNING_KEY: edgeSigningKey,
  ORIGIN_TIMEOUT_SECONDS: "6", // what is read after something hung has the rest of it, also on a busy machine
};

describe("an edge without an origin", () => {
  let database: TestDatabase;
  let origin: EdgeOrigin; // to compare with
  let edge: Edge;
  let keys: PublicKeySet;
  before(async () => {
    edge = await Edge.start("", vars); // takes long: the generation would age meanwhile
    database = makeDatabase();
    origin = await EdgeOrigin.start(database.path);
    await publish(edge, renderBundle(database.path));
    keys = JSON.parse(await (await edge.fetch("/.well-known/jwks.json")).text());
  });
  after(async () => {
    await edge.close();
    await origin.kill();
    database.remove();
  });

  async function publish(to: Edge, rendered: Rendered): Promise<void> {
    const bucket = await to.bundles();
    for (const [key, bytes] of await objectsOf(rendered, { prefix: "lists/" })) await bucket.put(key, bytes);
  }

  const bundled = [
    "/?region=ES",
    "/embed?region=ES&window=now",
    "/api/trending?region=ES",
    "/api/trending?region=ES&window=week&category=Kids%27%20TV&fields=snippet&limit=50",
    "/api/trending?region=ES&cursor=1-24",
    "/api/trending?region=ES&language=de&fields=chart",
    "/feeds/ES.atom?window=now",
    "/api/export/ES.ndjson",
    "/api/export/ES.ndjson?window=now",
    "/api/regions",
    "/api/about",
    "/about",
    "/openapi.json",
    "/api/videos/es-3",
    "/api/videos/es-3/explain?region=ES",
    "/problems/not-found",
  ];
  // Lists need /api/regions. A bundle counts as fresh for two minutes, which a busy machine takes to come here.
  const found =
    /^trendvault; (hit|fwd=miss; fwd-status=200; stored); ttl=-?\d+(; detail=stale-while-revalidate)?$/;
  const foundInCache = /^trendvault; hit; ttl=-?\d+(; detail=stale-while-revalidate)?$/;
  for (const target of bundled) {
    test(`serves ${target} as the origin does, signed by it, and from the cache the second time`, async () => {
      const [response, expected] = [await edge.fetch(target), await origin.fetch(target)];
      assert.equal(response.status, 200, await response.clone().text());
      assert.match(response.headers.get("cache-status") ?? "", found);
      const [text, whole] = [await response.text(), await expected.text()];
      assert.equal(withoutToken(text), withoutToken(whole));
      const again = await edge.fetch(target, { headers: { "accept-encoding": "identity" } });
      assert.match(again.headers.get("cache-status") ?? "", foundInCache);
      assert.equal(await again.clone().text(), text);
      await verifyIndependently({ status: 200, headers: new Headers([...again.headers]) }, keys);
    });
  }

  test("makes lists of every other length, byte by byte those of the origin but for the token, which clients verify", async () => {
    for (let limit = 1; limit <= 50; limit++) {
      const target = trendingUrl({ region: "DE", window: "day", limit });
      const response = await edge.fetch(target, { headers: { "accept-encoding": "identity" } });
      assert.equal(response.status, 200, await response.clone().text());
      const expected = await origin.fetch(target);
      assert.equal(withoutToken(await response.clone().text()), withoutToken(await expected.text()));
      const { status } = response;
      const headers = new Headers([...response.headers]);
      await verifyIndependently({ status, headers }, keys);
      const body = new Uint8Array(await response.arrayBuffer());
      assert.equal(await verifyResponse({ status, headers, body }, keys), "valid");
      const { token } = JSON.parse(new TextDecoder().decode(body));
      assert.equal((await verifyToken(token, keys, { now: Date.now() / 1000 })).verdict, "valid");
    }
  });

  test("counts impressions of lists of both kinds, at the ranks of their pages", async () => {
    for (const [region, target, rank] of [
      ["PL", "/api/trending?region=PL", 3],
      ["PT", "/api/trending?region=PT&limit=7&cursor=1-7", 9],
      ["IT", "/api/trending?region=IT&language=de&limit=7", 2],
    ] as const) {
      const { token, ids } = await readList(edge, target);
      assert.equal((await send(edge, { token, seen: 0, opened: [rank] })).status, 204);
      assert.deepEqual(await countedIn(edge, `${region}-0`), [[rank, ids.get(rank), 0, 1]]);
    }
  });

  test("says of what is in no bundle that it does not exist, in the origin's words, signed", async () => {
    for (const target of [
      "/api/videos/none",
      "/api/videos/none/explain?region=ES",
      "/api/trending?region=ES&cursor=1-48",
      "/api/trending?region=ES&limit=20&cursor=1-40",
      "/assets/page-00000000.js",
    ]) {
      const response = await edge.fetch(target, { headers: { "accept-encoding": "identity" } });
      const expected = await origin.fetch(target);
      assert.deepEqual([response.status, expected.status], [404, 404], target);
      assert.equal(await response.clone().text(), await expected.text());
      await verifyIndependently({ status: 404, headers: new Headers([...response.headers]) }, keys);
    }
  });

  test("serves what is cold while reads of the newest pointer hang, from the one that it has", async () => {
    const cold = windows.flatMap((window) =>
      Array.from({ length: 50 }, (_, n) => trendingUrl({ region: "ES", window, limit: n + 1 })),
    );
    const [first] = await edge.record([{ target: "/api/regions" }]);
    const statuses = [first?.status];
    let hung = 0;
    // Five at a time, until the pointer was read again, which it is after some seconds.
    while (hung === 0) {
      const recorded = await Promise.all(
        cold.splice(0, 5).map((target) => edge.record([{ target, hangs: ".json" }])),
      );
      assert.notEqual(recorded.length, 0, "no read hung");
      for (const recording of recorded.flat()) {
        statuses.push(recording.status);
        hung = recording.hung;
      }
    }
    assert.deepEqual(new Set(statuses), new Set([200]));
  });

  test("says so to a person on a page", async () => {
    const headers = { accept: "text/html", "accept-language": "fr-CH" };
    const page = await edge.fetch("/assets/page-00000000.js", { headers });
    assert.equal(page.status, 404);
    assert.match(await page.text(), /<h1>Il n’y a rien ici<\/h1>/);
  });

  test("refuses what the origin refuses", async () => {
    for (const target of [
      "/api/trending?region=ES&category=None",
      "/api/trending?region=ES&language=en",
      "/api/trending?region=ES&cursor=999-24",
      "/api/trending?region=ES&limit=51",
      "/?region=ES&x=1&region=DE",
    ]) {
      const [response, expected] = [await edge.fetch(target), await origin.fetch(target)];
      assert.deepEqual([response.status, await response.json()], [expected.status, await expected.json()]);
    }
  });

  test("leads people to the page without a language that no bundle has", async () => {
    for (const path of ["/", "/embed"]) {
      const nearest = `${path}?region=ES&category=Music`;
      const { status, headers } = await edge.fetch(`${nearest}&lang=pl`, { redirect: "manual" });
      assert.deepEqual([status, headers.get("location")], [303, nearest]);
    }
  });

  test("serves the next generation soon after it was published, and the next pages of the one before", async () => {
    const before = await edge.fetch("/api/trending?region=FR&limit=24");
    const { next } = (await before.json()) as { next: string };
    database.publish();
    await publish(edge, renderBundle(database.path));
    await servesCold(edge, { region: "FR", generation: 2 });
    const page = await edge.fetch(next);
    assert.equal(page.status, 200);
    assert.equal(((await page.json()) as { generation: number }).generation, 1);
    const made = await edge.fetch("/api/trending?region=FR&limit=10&cursor=1-30");
    assert.equal(((await made.json()) as { count: number }).count, 10);
  });

  test("serves what is cold from the generation before while ranges of the newest bundle hang, one of them or all", async () => {
    const random = new Random();
    database.publish();
    const rendered = renderBundle(database.path);
    await publish(edge, rendered);
    await until(async () => {
      const response = await edge.fetch("/api/videos/fr-3/explain?region=FR"); // reads the index of the newest
      assert.equal(response.status, 200);
      const { generation } = await read<{ generation: number }>(edge, "/api/about");
      return generation === rendered.generation || sleep(200, false);
    });
    const name = bundleNames.bundle({ generation: rendered.generation, sha256: rendered.file.sha256 });
    const cold = ["BE", "AT", "IE", "DK"].map((region) => `/feeds/${region}.json?window=week`);
    const [before] = await edge.record([{ target: "/api/about" }]);
    let hung = 0;
    while (cold.length > 0) {
      const together = cold.splice(0, 1 + random.below(3));
      const asked = together.map((target) => {
        const isLast = cold.length === 0; // of which some hang, whatever is drawn
        return edge.record([{ target, hangs: isLast ? name : random.pick([name, name, ".none"]) }]);
      });
      for (const recording of (await Promise.all(asked)).flat()) {
        assert.equal(recording.status, 200, `TEST_SEED=${random.seed}`);
        hung = recording.hung;
      }
    }
    assert.ok(hung > (before?.hung ?? 0), `TEST_SEED=${random.seed}: no read hung`);
  });
});

/** A body without its token, whose minute differs. */
function withoutToken(body: string): string {
  return body.replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, "");
}

const joinedVars = {
  ...counting,
  ORIGIN_JWKS: bundleKeySet,
  BUNDLE_PREFIX: "gb,lists/de",
  BUNDLE_NAMES: ["gb", "lists/de"].map(storeName).join(),
  EDGE_KEYS: "",
  EDGE_SIGNING_KEY: edgeSigningKey,
};

let british: TestDatabase;
let german: TestDatabase;
let origin: EdgeOrigin; // over a file that has both, to compare with
let keys: PublicKeySet;

before(async () => {
  british = makeDatabase(90, { regions: ["GB", "IE"], categories: ["Music", "Film"] });
  german = makeDatabase(30, { regions: ["DE", "FR"], categories: ["Music", "Sport"] });
  const joined = join(british.path, "../joined.db");
  joinDatabases(joined);
  origin = await EdgeOrigin.start(joined);
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

/** Asks for lists of another length each time: one that was served is fresh for two minutes. */
async function servesCold(edge: Edge, list: { region: string; generation: number }): Promise<void> {
  let limit = 0;
  await until(async () => {
    const target = trendingUrl({ region: list.region, window: "week", limit: (limit++ % 50) + 1 });
    const { generation } = await read<{ generation: number }>(edge, target);
    return generation === list.generation || sleep(200, false);
  });
}

async function read<T>(edge: Edge, target: string): Promise<T> {
  return (await (await edge.fetch(target)).json()) as T;
}

describe("an edge without an origin, over the stores of two writers", () => {
  let edge: Edge;
  before(async () => {
    edge = await Edge.start("", joinedVars);
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

  test("has the pages of all regions, and a cursor of each writer", async () => {
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

  test("has a video's ranks in the regions of the writer that knows it", async () => {
    for (const [id, region] of [
      ["ie-4", "IE"],
      ["de-4", "DE"],
    ] as const) {
      const { trending } = await read<Video>(edge, `/api/videos/${id}`);
      assert.deepEqual(new Set(trending.map((place) => place.region)), new Set([region]));
    }
    assert.equal((await edge.fetch("/api/videos/none")).status, 404);
  });

  test("refuses a region that nobody publishes, and a category of the other writer's regions alone", async () => {
    const elsewhere = await edge.fetch("/api/trending?region=ES");
    assert.deepEqual([elsewhere.status, elsewhere.headers.has("signature")], [404, false]);
    const category = await edge.fetch("/api/trending?region=GB&category=Sport");
    assert.equal(category.status, 400);
    assert.match(await category.text(), /expected one of Film, Music/);
    assert.equal((await edge.fetch("/api/trending?region=GB&category=None")).status, 400);
    assert.equal((await edge.fetch("/api/trending?region=DE&cursor=256-24")).status, 410);
  });

  test("counts impressions of the lists of both", async () => {
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
    await servesCold(edge, { region: "FR", generation: 257 });
    await until(async () => {
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
    const { EDGE_SIGNING_KEY: _, ...others } = joinedVars;
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
    await until(async () => (await edge.fetch("/api/trending?region=GB")).status === 200);
    await until(async () => /EDGE_SIGNING_KEY/.test(await (await edge.fetch("/api/regions")).text()));
    assert.equal((await edge.fetch("/api/regions")).status, 503);
    assert.equal((await edge.fetch("/.well-known/jwks.json")).status, 200);
  });
});
