import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { bundleName, bundlePointerName, currentBundleName } from "@trendvault/contract/pointer";
import { verifyResponse } from "@trendvault/contract/response-signature";
import { drawsOf, Random } from "@trendvault/contract/test-support/random";
import {
  bundleKeySet,
  edgeSeed,
  edgeSigner,
  objectsOf,
  publisher,
  type Rendered,
  renderBundle,
  stranger,
} from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { DataCentre, InProcessEdge, withFetch } from "./in-process-edge.ts";
import { type Fault, MemoryBucket } from "./memory-bucket.ts";

const draws = drawsOf({ usual: 800, long: 60_000 });
const random = new Random();
const generations = 3;
const keys: PublicKeySet = {
  keys: [...JSON.parse(bundleKeySet).keys, edgeSigner.responseKey, edgeSigner.tokenKey],
};
const list = "/api/trending?region=DE";
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

type Seen = { status: number; headers: Headers; body: string };

function isFetched(target: string, { headers }: Seen): boolean {
  return /; stored/.test(headers.get("cache-status") ?? "") && !cursors.includes(target);
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
    expect(bucket.reads.filter((key) => key === currentBundleName)).toHaveLength(1);
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
    const held = new Map<string, number>(); // the generation that an isolate has served of a target, and fetched at all
    let newest = 1;
    for (let step = 0; step < 50; step++) {
      newest = await change(bucket, newest);
      pass(random.pick([0, 1, 6, 30, 200, 1000]));
      const [target, isolate] = [random.pick([...existing, ...cursors, ...missing]), random.below(2)];
      const seen = await ask(target, isolate);
      await judge(target, seen);
      expect(Number(/"generation":(\d+)/.exec(seen.body)?.[1] ?? 0)).toBeLessThanOrEqual(newest); // no other store's
      holdTo(held, seen, [`${isolate} ${target}`, ...(isFetched(target, seen) ? [`${isolate}`] : [])]);
    }
  }

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
    const nameOf = ({ generation, file }: Rendered) => bundleName({ generation, sha256: file.sha256 });
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
          random.pick([nameOf(one), bundlePointerName(one.generation), currentBundleName]),
        ),
      async () => {
        const pointer = await publisher.signBundlePointer({
          generation: one.generation,
          published_at: new Date(publishedAt * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
          bundle: other.file,
        });
        bucket.put([[currentBundleName, pointer]]); // by the writer's key, of another file
      },
    ];
    await random.pick(deeds)();
  }

  function failAtTimes(bucket: MemoryBucket, fault: Fault): void {
    const share = random.pick([1, 2, 4]);
    bucket.fault = () => (random.below(share) === 0 ? fault : {});
  }
});
