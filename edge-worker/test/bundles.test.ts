import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bundleName, bundlePointerName } from "@trendvault/contract/pointer";
import { bundleKeySet, edgeSeed, objectsOf, type Rendered, renderBundle } from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import type { Exchange } from "./exchanges.ts";
import { DataCentre, InProcessEdge, withFetch } from "./in-process-edge.ts";
import { MemoryBucket } from "./memory-bucket.ts";

// What partners verify with. By a name that tsc does not follow: what runs in Node.js has no syntax like the client's.
const client = "../../web/client/src/verify.ts";
const { createVerifier, verifyPageToken } = await import(client);

const list = "/api/trending?region=DE";
const failing: Exchange = { status: 500, headers: [], body: "" };
type Seen = { status: number; headers: Headers; body: string };
type Options = { hasOrigin?: boolean; key?: Uint8Array | null; later?: number; signingSeed?: Uint8Array };

describe("an edge that reads a bundle", () => {
  let database: TestDatabase;
  const published: Rendered[] = [];
  beforeAll(() => {
    database = makeDatabase();
    published.push(renderBundle(database.path));
    database.publish();
    published.push(renderBundle(database.path, { isDelegating: false }));
  }, 1_200_000);
  afterAll(() => database.remove());

  /** What a new edge answers, `later` seconds after a generation was published, and what it logs. */
  async function ask(
    target: string,
    {
      generation = 1,
      hasOrigin = false,
      signingSeed,
      later = 20,
      ...options
    }: Options & { generation?: number; bucket?: MemoryBucket } = {},
  ): Promise<Seen & { events: string[]; reads: number }> {
    const rendered = published[generation - 1] as Rendered;
    const bucket = options.bucket ?? (await bucketWith(generation));
    const events: string[] = [];
    const bundles = { bucket, keySet: bundleKeySet, ...(signingSeed && { signingSeed }) };
    const log = ({ event, reason }: { event: string; reason?: unknown }) =>
      void events.push(`${event}: ${reason}`);
    const situation = { stored: [], fallback: null, hasOrigin, bundles, dataCentre: new DataCentre(), log };
    const edge = new InProcessEdge(situation, () => rendered.signedAt + later);
    const [status, fields, body] = JSON.parse(
      await withFetch(
        () => failing,
        () => edge.ask(target),
      ),
    );
    return { status, headers: new Headers(fields), body, events, reads: bucket.reads.length };
  }

  /** The first generations, published when they were made. */
  async function bucketWith(generations: number): Promise<MemoryBucket> {
    const bucket = new MemoryBucket();
    for (const rendered of published.slice(0, generations)) {
      bucket.put(await objectsOf(rendered, { publishedAt: rendered.signedAt }));
    }
    return bucket;
  }

  test("reads a pointer, an index, a part of it and a block for the first document", async () => {
    expect(await ask(list)).toMatchObject({ status: 200, reads: 4, events: [] });
  });

  test("refuses other lengths where it has no key, and names those that there are", async () => {
    const { status, body } = await ask(`${list}&limit=7`);
    expect([status, JSON.parse(body).invalid]).toEqual([
      400,
      [{ name: "limit", detail: "expected one of 24, 50" }],
    ]);
  });

  test("signs nothing with a key that the bundle's key set does not name, and says so", async () => {
    const { status, events } = await ask(`${list}&limit=7`, { generation: 2, signingSeed: edgeSeed });
    expect([status, events]).toEqual([400, ["edge_key_unknown: undefined"]]);
  });

  test.each([
    "&limit=7",
    "&limit=7&cursor=1-14",
    "&limit=30&cursor=1-30",
    "&limit=1&fields=chart",
    "&category=Music&limit=49",
    "&cursor=1-0",
  ])("makes %s so that clients verify it, and its token", async (parameters) => {
    const target = list + parameters;
    const { status, headers, body } = await ask(target, { signingSeed: edgeSeed });
    expect([status, body]).toEqual([200, expect.stringContaining('"items":[{')]);
    const keys = JSON.parse((await ask("/.well-known/jwks.json")).body);
    const bytes = new TextEncoder().encode(body);
    await createVerifier({ keys })({ url: `https://site.example${target}`, status, headers, body: bytes });
    const page = JSON.parse(body);
    await verifyPageToken(page, keys);
    expect(page.items).toHaveLength(page.count);
  });

  test("says that something does not exist while the bundle is young, without an origin; else 503", async () => {
    for (const target of [
      "/api/videos/none",
      "/api/videos/none/explain?region=DE",
      "/assets/page-00000000.js",
    ]) {
      const own = await ask(target);
      expect([own.status, JSON.parse(own.body).type]).toEqual([404, "/problems/not-found"]);
      expect(own.headers.get("signature")).toBeNull();
      expect((await ask(target, { signingSeed: edgeSeed })).headers.get("signature")).not.toBeNull();
      expect((await ask(target, { later: 1000 })).status).toBe(503);
      expect((await ask(target, { hasOrigin: true })).status).toBe(503);
    }
  });

  test("says that a list ends before a page, also beside an origin that fails", async () => {
    for (const target of [`${list}&cursor=1-48`, `${list}&limit=20&cursor=1-40`, "/?region=DE&cursor=1-48"]) {
      for (const hasOrigin of [false, true]) {
        expect([target, (await ask(target, { hasOrigin })).status]).toEqual([target, 404]);
      }
    }
  });

  test("serves cursors of an older generation while its bundle is there, and 410 afterwards", async () => {
    const bucket = await bucketWith(2);
    expect((await ask(`${list}&cursor=1-24`, { generation: 2, bucket })).status).toBe(200);
    bucket.objects.delete(bundlePointerName(1));
    const gone = await ask(`${list}&cursor=1-24`, { generation: 2, bucket });
    expect([gone.status, JSON.parse(gone.body).restart]).toEqual([410, list]);
  });

  test("does not call a generation gone that only the origin has yet", async () => {
    expect((await ask(`${list}&cursor=9-24`)).status).toBe(410);
    const { status, events } = await ask(`${list}&cursor=9-24`, { hasOrigin: true });
    expect([status, events.at(-1)]).toEqual([
      503,
      expect.stringContaining("no bundle of its generation yet"),
    ]);
  });

  test("answers 503 when the bundle's file is gone, and never 404", async () => {
    const bucket = await bucketWith(1);
    const [{ generation, file }] = published as [Rendered];
    bucket.objects.delete(bundleName({ generation, sha256: file.sha256 }));
    for (const target of [list, "/api/videos/none", `${list}&cursor=1-24`, `${list}&limit=7`]) {
      expect([target, (await ask(target, { bucket })).status]).toEqual([target, 503]);
    }
  });

  test("serves an old bundle for a day, with its age, marked and counted as nothing, and then no longer", async () => {
    for (const [later, status] of [
      [100, 200],
      [700, 200],
      [1000, 200],
      [86_000, 200],
      [86_700, 503],
    ] as const) {
      const seen = await ask(list, { later });
      expect([later, seen.status]).toEqual([later, status]);
      if (status !== 200) continue;
      expect(Math.abs(Number(seen.headers.get("age")) - later)).toBeLessThan(10);
      const isOld = seen.headers.get("cache-status")?.endsWith("detail=bundle-fallback");
      expect([later, isOld]).toEqual([later, later > 720]);
    }
  });
});
