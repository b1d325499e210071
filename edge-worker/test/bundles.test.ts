import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type BundleFile,
  type BundleRange,
  readBundleIndex,
  readDocument,
} from "@trendvault/contract/bundle-file";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { bundleNames } from "@trendvault/contract/pointer";
import { regionCodes } from "@trendvault/contract/regions";
import { verifyResponse } from "@trendvault/contract/response-signature";
import type { Exchange } from "@trendvault/kit/keys";
import { drawsOf, Random } from "@trendvault/kit/random";
import {
  bundleKeySet,
  edgeSeed,
  edgeSigner,
  type Fault,
  MemoryBucket,
  objectsOf,
  publisher,
  type Rendered,
  renderBundle,
  stranger,
} from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { DataCentre, InProcessEdge, withFetch } from "./in-process-edge.ts";

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
  const endsAt = Math.floor(Date.now() / 1000) + 7000;
  beforeAll(() => {
    database = makeDatabase();
    database.end("pl-39", "PL", endsAt);
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
    const titled = await ask(`${list}&titles=fr`);
    expect([titled.status, JSON.parse(titled.body).invalid]).toEqual([
      400,
      [{ name: "titles", detail: "expected none without an origin" }],
    ]);
  });

  test("without a key, refuses nothing that an origin makes while that one fails, and serves what is stored", async () => {
    const rendered = published[0] as Rendered;
    const [bucket, dataCentre] = [await bucketWith(1), new DataCentre()];
    const options = { stored: [], fallback: null, dataCentre };
    const seen = async (target: string, later: number, key: { signingSeed?: Uint8Array }) => {
      const bundles = { bucket, keySet: bundleKeySet, ...key };
      const edge = new InProcessEdge({ ...options, bundles }, () => rendered.signedAt + later);
      const [status, fields] = JSON.parse(await edge.ask(target));
      delete dataCentre.responses.get(target)?.bundle; // as if it were the origin's
      return [status, new Headers(fields).get("cache-status")?.split("detail=")[1]];
    };
    for (const target of [`${list}&titles=fr`, `${list}&limit=7`]) {
      const statuses = await withFetch(
        () => failing,
        async () => [
          await seen(target, 20, {}),
          await seen(target, 20, { signingSeed: edgeSeed }),
          await seen(target, 3000, {}),
        ],
      );
      expect(statuses).toEqual([
        [503, undefined],
        [200, "bundle"],
        [200, "stale-if-error"],
      ]);
    }
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
    "&titles=fr",
    "&titles=fr&fields=chart&cursor=1-24",
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
    bucket.objects.delete(bundleNames.pointer(1));
    const gone = await ask(`${list}&cursor=1-24`, { generation: 2, bucket });
    expect([gone.status, JSON.parse(gone.body).restart]).toEqual([410, list]);
  });

  test("says that a generation is gone, also where it has read some of it before", async () => {
    const [{ generation, file }, newest] = published as [Rendered, Rendered];
    const bucket = await bucketWith(2);
    const situation = { stored: [], fallback: null, hasOrigin: false };
    const bundles = { bucket, keySet: bundleKeySet };
    const edge = new InProcessEdge({ ...situation, bundles }, () => newest.signedAt + 20);
    const statusOf = async (region: string) =>
      JSON.parse(await edge.ask(`/api/trending?region=${region}&cursor=1-24`))[0];
    expect(await statusOf("DE")).toBe(200);
    bucket.objects.delete(bundleNames.bundle({ generation, sha256: file.sha256 }));
    expect(await statusOf("FR")).toBe(503);
    bucket.objects.delete(bundleNames.pointer(generation));
    expect([await statusOf("DE"), await statusOf("PL")]).toEqual([200, 410]);
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
    bucket.objects.delete(bundleNames.bundle({ generation, sha256: file.sha256 }));
    for (const target of [list, "/api/videos/none", `${list}&cursor=1-24`, `${list}&limit=7`]) {
      expect([target, (await ask(target, { bucket })).status]).toEqual([target, 503]);
    }
  });

  test("serves in place of a broken document the one before, if that was published less than a quarter of an hour earlier", async () => {
    const [earlier, newest] = published as [Rendered, Rendered];
    const { generation, file, bytes, signedAt } = newest;
    const broken = flipped(bytes, [await blockOf(list, file, bytes)]);
    for (const [earlierBy, status] of [
      [899, 200],
      [900, 503],
    ] as const) {
      const bucket = new MemoryBucket(await objectsOf(earlier, { publishedAt: signedAt - earlierBy }));
      bucket.put(await objectsOf(newest, { publishedAt: signedAt }));
      bucket.put([[bundleNames.bundle({ generation, sha256: file.sha256 }), broken]]);
      expect([earlierBy, (await ask(list, { generation, bucket })).status]).toEqual([earlierBy, status]);
    }
  });

  test("does not look in the one before for what the newest bundle does not have: it may have been removed", async () => {
    const newest = published[1] as Rendered;
    const alone = new MemoryBucket(await objectsOf(newest, { publishedAt: newest.signedAt }));
    const options = { generation: 2, hasOrigin: true };
    const { status, reads } = await ask("/api/videos/none", { ...options, bucket: await bucketWith(2) });
    expect({ status, reads }).toEqual({
      status: 503,
      reads: (await ask("/api/videos/none", { ...options, bucket: alone })).reads,
    });
  });

  test("finds the one before of a writer that shares the regions: its numbers are 256 apart", async () => {
    const numbers = new Database(database.path);
    numbers.run("UPDATE sqlite_sequence SET seq = seq + 255 WHERE name = 'generations'");
    numbers.close();
    database.publish();
    const newest = renderBundle(database.path);
    const generation = published.push(newest);
    expect(newest.generation).toBe(2 + 256);
    const { file, bytes, signedAt } = newest;
    const bucket = await bucketWith(2);
    bucket.put(await objectsOf(newest, { publishedAt: signedAt }));
    const name = bundleNames.bundle({ generation: newest.generation, sha256: file.sha256 });
    bucket.put([[name, flipped(bytes, [await blockOf(list, file, bytes)])]]);
    const { body } = await ask(list, { generation, bucket });
    expect(JSON.parse(body)).toMatchObject({ generation: 2 });
  }, 1_200_000);

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

  test.each([
    "/api/trending?region=PL",
    "/api/trending?region=PL&limit=29",
    "/?region=PL",
    "/feeds/PL.atom",
    "/api/videos/pl-39",
    "/api/videos/pl-39/explain?region=PL",
  ])("serves %s until a video in it may not be shown any more, and no longer", async (target) => {
    const { signedAt } = published[0] as Rendered;
    for (const [at, status] of [
      [endsAt - 1, 200],
      [endsAt, 503],
    ] as const) {
      const seen = await ask(target, { later: at - signedAt, signingSeed: edgeSeed });
      expect([seen.status, seen.body.includes("Video 39 of PL")]).toEqual([status, status === 200]);
    }
  });
});

test("a list made of two pages is served until the first of both ends, also when neither has time left for errors", async () => {
  const database = makeDatabase(0, { regions: ["DE", "PL"], videosPerRegion: 60 });
  const [longest, shortest] = [115, 110]; // both within the time in which an answer is fresh
  const endIn = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  let [rendered, first, last]: [Rendered | null, number, number] = [null, 0, 0];
  try {
    while (rendered === null || rendered.signedAt >= first) {
      [first, last] = [endIn(shortest), endIn(longest)];
      for (const [id, region, until] of [
        ["de-59", "DE", first], // among the first 50
        ["de-0", "DE", last],
        ["pl-59", "PL", last],
        ["pl-0", "PL", first],
      ] as const) {
        database.end(id, region, until);
      }
      rendered = renderBundle(database.path);
    }
  } finally {
    database.remove();
  }
  const { signedAt } = rendered;
  const bucket = new MemoryBucket(await objectsOf(rendered, { publishedAt: signedAt }));
  const statusAt = async (target: string, now: number): Promise<number> => {
    const bundles = { bucket, keySet: bundleKeySet, signingSeed: edgeSeed };
    const edge = new InProcessEdge({ stored: [], fallback: null, hasOrigin: false, bundles }, () => now);
    return JSON.parse(await edge.ask(target))[0];
  };
  for (const [region, cursor] of [
    ["DE", "&cursor=1-50"],
    ["PL", ""],
  ]) {
    const url = `/api/trending?region=${region}`;
    const alone = await statusAt(`${url}&limit=50${cursor}`, first);
    const made = `${url}&limit=30&cursor=1-30`;
    const both = await Promise.all([first - 1, first].map((now) => statusAt(made, now)));
    expect({ region, alone, both }).toEqual({ region, alone: 200, both: [200, 503] });
  }
}, 1_200_000);

const random = new Random();
const targets = regionCodes.flatMap((region) => [
  `/api/trending?region=${region}`,
  `/api/trending?region=${region}&window=week`,
  `/feeds/${region}.json`,
  `/api/videos/${region.toLowerCase()}-3`,
  `/?region=${region}`,
]);

/** Where the compressed part of a bundle begins that has a target's document. */
async function blockOf(target: string, file: BundleFile, bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  let last = 0;
  const read = async ({ offset, bytes: length }: BundleRange) => {
    last = offset;
    return bytes.slice(offset, offset + length);
  };
  await readDocument(target, await readBundleIndex(file, read), read);
  return last;
}

function flipped(bytes: Uint8Array<ArrayBuffer>, offsets: Iterable<number>): Uint8Array<ArrayBuffer> {
  const changed = bytes.slice();
  for (const offset of offsets) changed[offset] = 255 - (changed[offset] ?? 0);
  return changed;
}

describe("an edge without an origin", () => {
  let database: TestDatabase;
  const published: Rendered[] = [];
  beforeAll(() => {
    database = makeDatabase();
    published.push(renderBundle(database.path));
    database.publish();
    published.push(renderBundle(database.path));
  }, 1_200_000);
  afterAll(() => database.remove());

  /** An edge over the first bundle, whose file is changed. */
  async function startOverChanged(bytes: Uint8Array<ArrayBuffer>) {
    const rendered = published[0] as Rendered;
    const { generation, file, signedAt } = rendered;
    const bucket = new MemoryBucket(await objectsOf(rendered, { publishedAt: signedAt }));
    bucket.put([[bundleNames.bundle({ generation, sha256: file.sha256 }), bytes]]);
    const bundles = { bucket, keySet: bundleKeySet };
    const options = { stored: [], fallback: null, hasOrigin: false, bundles };
    const edge = new InProcessEdge(options, () => signedAt + 20);
    const ask = async (target: string): Promise<number> => JSON.parse(await edge.ask(target))[0];
    return { bucket, ask };
  }

  test(`serves each document that is whole, whichever others are broken (TEST_SEED=${random.seed})`, async () => {
    const { file, bytes } = published[0] as Rendered;
    const blocks = new Map<string, number>();
    for (const target of targets) blocks.set(target, await blockOf(target, file, bytes));
    for (let draw = 0; draw < drawsOf({ usual: 5, long: 100 }); draw++) {
      const broken = new Set([...blocks.values()].filter(() => random.below(2) === 0));
      const { ask } = await startOverChanged(flipped(bytes, broken));
      const drawn = targets.map((target) => ({ target, place: random.next() }));
      for (const { target } of drawn.toSorted((left, right) => left.place - right.place)) {
        const expected = broken.has(blocks.get(target) ?? 0) ? 503 : 200;
        expect({ draw, target, status: await ask(target) }).toEqual({ draw, target, status: expected });
      }
    }
  }, 1_200_000);

  test("does not read a bundle again and again whose index is broken", async () => {
    const { bytes } = published[0] as Rendered;
    const { bucket, ask } = await startOverChanged(flipped(bytes, [bytes.length - 100]));
    for (const target of targets) expect([target, await ask(target)]).toEqual([target, 503]);
    expect(bucket.reads).toHaveLength(1 + 1); // the pointer and the index
  });

  test(`serves nothing that says it was signed in the future (TEST_SEED=${random.seed})`, async () => {
    const [older, newer] = published as [Rendered, Rendered];
    for (let draw = 0; draw < drawsOf({ usual: 60, long: 2000 }); draw++) {
      const isAhead = random.below(2) === 0; // by more than clocks may differ
      const now = isAhead ? older.signedAt - 61 - random.below(1e6) : newer.signedAt - random.below(20);
      const ask = await startAt(now, random.pick([[older], [older, newer]]));
      const target = random.pick([...targets, "/api/regions", "/about", "/api/trending?region=DE&limit=7"]);
      expect({ draw, target, status: await ask(target) }).toEqual({
        draw,
        target,
        status: isAhead ? 503 : 200,
      });
    }
  }, 1_200_000);

  /** An edge over a store for each bundle, whose pointers are as old as its documents, or of now. */
  async function startAt(now: number, rendered: Rendered[]) {
    const bucket = new MemoryBucket();
    const prefixes = rendered.length === 1 ? [""] : ["one", "two"];
    for (const [index, prefix] of prefixes.entries()) {
      const of = rendered[index] as Rendered;
      const options = { publishedAt: random.pick([now, of.signedAt]), prefix: prefix && `${prefix}/` };
      bucket.put(await objectsOf(of, options));
    }
    const bundles = { bucket, keySet: bundleKeySet, prefixes, signingSeed: edgeSeed };
    const edge = new InProcessEdge({ stored: [], fallback: null, hasOrigin: false, bundles }, () => now);
    return async (target: string): Promise<number> => JSON.parse(await edge.ask(target))[0];
  }

  test.each([
    ["one store", [""]],
    ["two joined stores", ["one", "two"]],
  ])(
    "counts what a client makes it read of %s, and nothing while that is the newest",
    async (_, prefixes) => {
      const bucket = new MemoryBucket();
      for (const [index, prefix] of prefixes.entries()) {
        const rendered = published[index] as Rendered;
        const options = { publishedAt: rendered.signedAt, prefix: prefix && `${prefix}/` };
        bucket.put(await objectsOf(rendered, options));
      }
      const bundles = { bucket, keySet: bundleKeySet, prefixes };
      let now = (published[1] as Rendered).signedAt + 130; // no list is fresh any more
      const edge = new InProcessEdge({ stored: [], fallback: null, hasOrigin: false, bundles }, () => now);
      const [asked, isCounted] = [targets.slice(0, 20), { times: 0 }];
      const count = async () => {
        isCounted.times++;
        return true;
      };
      for (const end = now + 90; now < end; now++) {
        const seen = await Promise.all(asked.map((target) => edge.ask(target, count)));
        expect(seen.map((answer) => JSON.parse(answer)[0])).toEqual(asked.map(() => 200));
      }
      expect(isCounted.times).toBe(asked.length);
      const other = await edge.ask(targets.at(-1) ?? "", async () => false);
      expect(JSON.parse(other)[0]).toBe(429);
    },
  );
});

const draws = drawsOf({ usual: 800, long: 60_000 });
const generations = 3;
const keys: PublicKeySet = {
  keys: [...JSON.parse(bundleKeySet).keys, edgeSigner.responseKey, edgeSigner.tokenKey],
};
const existing = [
  ...[
    list,
    `${list}&window=week&limit=50`,
    `${list}&limit=7`,
    `${list}&category=Music&fields=snippet`,
    "/?region=FR",
  ],
  ...["/api/regions", "/feeds/DE.json", "/api/videos/de-3", "/api/videos/de-3/explain?region=DE", "/about"],
];
const cursors = ["1-24", "2-24", "3-24"].map((cursor) => `${list}&cursor=${cursor}`);
const missing = ["/api/videos/none", `${list}&cursor=1-48`];

function isFetched(target: string, { headers }: Seen): boolean {
  return /; stored/.test(headers.get("cache-status") ?? "") && !cursors.includes(target);
}

/** What a cursor goes on with: pages of all lengths are of one list. */
function listOf(target: string): string {
  return `list of ${target.replace(/&(limit|fields)=\w+/g, "")}`;
}

/** Asserts that what is served is not older than what was served before under these names. */
function holdTo(held: Map<string, number>, { status, body }: Seen, names: string[]): void {
  const generation = Number(/"generation":(\d+)/.exec(body)?.[1] ?? 0);
  if (status !== 200 || generation === 0) return;
  for (const name of names) {
    expect([name, generation]).toEqual([name, Math.max(generation, held.get(name) ?? 0)]);
    held.set(name, generation);
  }
}

describe("whatever happens to the bucket", () => {
  let database: TestDatabase;
  const published: Rendered[] = [];
  beforeAll(() => {
    database = makeDatabase();
    for (let generation = 1; generation <= generations; generation++) {
      if (generation > 1) database.publish();
      published.push(renderBundle(database.path));
    }
  }, 1_200_000);
  afterAll(() => database.remove());

  test(`nothing is served that is unsigned, torn, older than what was held, or missing though it exists (TEST_SEED=${random.seed})`, async () => {
    for (let round = 0; round < draws / 50; round++) {
      await withFetch(() => ({ status: 500, headers: [], body: "" }), runRound);
    }
  }, 1_800_000);

  test("without faults everything is served of the newest generation, with few reads", async () => {
    const { bucket, ask } = await start(3, 60);
    for (const target of [...existing, cursors[2] ?? ""])
      expect([target, (await ask(target)).status]).toEqual([target, 200]);
    for (const target of missing) expect((await ask(target)).status).toBe(404);
    expect(bucket.reads.filter((key) => key === bundleNames.current)).toHaveLength(1);
    expect(bucket.reads.length).toBeLessThan(40);
  });

  /** An edge of two isolates in one data centre, and a bucket in which some generations were published. */
  async function start(newest: number, timeoutSeconds: number) {
    let now = (published[generations - 1] as Rendered).signedAt + 20; // no bundle is of the future, however long it took
    const [bucket, dataCentre] = [new MemoryBucket(), new DataCentre()];
    for (const rendered of published.slice(0, newest)) {
      bucket.put(await objectsOf(rendered, { publishedAt: rendered.signedAt }));
    }
    const bundles = { bucket, keySet: bundleKeySet, signingSeed: edgeSeed, timeoutSeconds };
    const options = { stored: [], fallback: null, hasOrigin: false, dataCentre, bundles };
    const isolates = [new InProcessEdge(options, () => now), new InProcessEdge(options, () => now)];
    const ask = async (target: string, isolate = 0): Promise<Seen> => {
      const [status, fields, body] = JSON.parse((await isolates[isolate]?.ask(target)) ?? "[]");
      return { status, headers: new Headers(fields), body };
    };
    const pass = (seconds: number) => {
      now += seconds;
    };
    return { bucket, ask, pass };
  }

  async function runRound(): Promise<void> {
    const { bucket, ask, pass } = await start(1, 0.1);
    const held = new Map<string, number>(); // the generation that an isolate has served of a target, and fetched of its list
    let newest = 1;
    for (let step = 0; step < 50; step++) {
      newest = await change(bucket, newest);
      pass(random.pick([0, 1, 6, 30, 200, 1000]));
      const [target, isolate] = [random.pick([...existing, ...cursors, ...missing]), random.below(2)];
      const seen = await ask(target, isolate);
      await judge(target, seen);
      expect(Number(/"generation":(\d+)/.exec(seen.body)?.[1] ?? 0)).toBeLessThanOrEqual(newest); // no other store's
      holdTo(held, seen, [
        `${isolate} ${target}`,
        ...(isFetched(target, seen) ? [`${isolate} ${listOf(target)}`] : []),
      ]);
    }
  }

  test("what is cold comes from the generation before when ranges of the newest hang, but no list of which a cursor was given", async () => {
    const { generation, file } = published[2] as Rendered;
    const name = bundleNames.bundle({ generation, sha256: file.sha256 });
    const of = ({ status, body }: Seen) =>
      status === 200
        ? Number(/"generation":(\d+)|data-generation="(\d+)"/.exec(body)?.slice(1).find(Boolean))
        : status;
    const cases = [
      [`${list}&limit=50`, 3, 503], // somebody may have the cursor of the same list's first page
      [`${list}&window=week`, 3, 2],
      ["/api/videos/de-3", 3, 2],
      ["/?region=FR", 3, 2],
      [`${list}&cursor=3-24`, 3, 503],
      [`${list}&cursor=2-24`, 2, 2],
      ["/api/videos/none", 404, 503],
    ] as const;
    const judging = cases.map(async ([target, before, after]) => {
      const { bucket, ask } = await start(3, 10);
      expect([target, of(await ask(target))]).toEqual([target, before]);
      expect(bucket.reads.length).toBeLessThan(12);
      const cold = await start(3, 10); // nine seconds more than the newest bundle has, on a busy machine
      expect([list, of(await cold.ask(list))]).toEqual([list, 3]);
      cold.bucket.fault = (key) => (key === name ? { read: () => new Promise<never>(() => {}) } : {});
      expect([target, of(await cold.ask(target))]).toEqual([target, after]);
    });
    judging.push(judgeWithout(2));
    await Promise.all(judging); // each waits for what hangs

    /** Of a list of generation 2 was given a cursor: it is not served of 1, either, where 2 is gone. */
    async function judgeWithout(gone: number) {
      const { bucket, ask, pass } = await start(gone, 10);
      expect(of(await ask(list))).toBe(gone);
      const newest = published[2] as Rendered;
      bucket.put(await objectsOf(newest, { publishedAt: newest.signedAt }));
      bucket.objects.delete(bundleNames.pointer(gone));
      pass(6);
      expect((await ask("/about")).status).toBe(200); // the newest is known
      bucket.fault = (key) => (key === name ? { read: () => new Promise<never>(() => {}) } : {});
      expect(of(await ask(`${list}&limit=50`))).toBe(503);
    }
  }, 60_000);

  /** The next generation is published, something goes wrong, all is well again, or nothing happens. */
  async function change(bucket: MemoryBucket, newest: number): Promise<number> {
    const next = published[newest];
    const what = random.pick(["publish", "harm", "heal", "nothing"]);
    if (what === "harm") await harm(bucket, newest);
    if (what === "heal") bucket.fault = () => ({});
    if (what !== "publish" || next === undefined) return newest;
    bucket.put(await objectsOf(next, { publishedAt: next.signedAt }));
    return newest + 1;
  }

  async function judge(target: string, { status, headers, body }: Seen): Promise<void> {
    const isMissing = missing.includes(target);
    const allowed = isMissing ? [404, 410, 503] : [200, 503, ...(cursors.includes(target) ? [410] : [])];
    if (!allowed.includes(status)) expect({ target, status, body }).toBeNull();
    if (status !== 200 && (status !== 404 || !headers.has("signature"))) return;
    const bytes = new TextEncoder().encode(body);
    const verdict = await verifyResponse({ status, headers, body: bytes }, keys);
    expect([target, verdict, headers.get("content-location")]).toEqual([target, "valid", target]);
  }

  /** One thing that goes wrong, or that somebody does who may write to the bucket. */
  async function harm(bucket: MemoryBucket, newest: number): Promise<void> {
    const one = published[random.below(newest)] as Rendered;
    const other = published[random.below(generations)] as Rendered;
    const nameOf = ({ generation, file }: Rendered) =>
      bundleNames.bundle({ generation, sha256: file.sha256 });
    const { signedAt: publishedAt } = one;
    const faults: Fault[] = [
      { read: () => Promise.reject(new Error("500")) },
      { read: () => new Promise<never>(() => {}) },
      { bytes: (bytes) => bytes.slice(0, random.below(bytes.length + 1)) },
      { bytes: (bytes) => bytes.map((byte) => byte ^ random.below(256)) },
      { bytes: (bytes) => bytes.with(random.below(bytes.length), random.below(256)) },
    ];
    const deeds: (() => unknown)[] = [
      () => failAtTimes(bucket, random.pick(faults)),
      async () => bucket.put([...(await objectsOf(one, { publishedAt }))].slice(-1)), // an older pointer is put back
      async () => bucket.put(await objectsOf(other, { signer: stranger, publishedAt })),
      async () => bucket.put(await objectsOf(other, { store: "trendvault/staging", publishedAt })),
      () => bucket.put([[nameOf(one), other.bytes]]), // an object is swapped
      () =>
        bucket.objects.delete(
          random.pick([nameOf(one), bundleNames.pointer(one.generation), bundleNames.current]),
        ),
      async () => {
        const pointer = await publisher.signBundlePointer({
          generation: one.generation,
          published_at: new Date(publishedAt * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
          bundle: other.file,
        });
        bucket.put([[bundleNames.current, pointer]]); // by the writer's key, of another file
      },
    ];
    await random.pick(deeds)();
  }

  function failAtTimes(bucket: MemoryBucket, fault: Fault): void {
    const share = random.pick([1, 2, 4]);
    bucket.fault = () => (random.below(share) === 0 ? fault : {});
  }
});
