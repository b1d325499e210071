import { beforeEach, expect, setSystemTime, test } from "bun:test";
import type { R2Conditional, R2GetOptions } from "@cloudflare/workers-types";
import { type BundleFile, BundleIndexWriter } from "@trendvault/contract/bundle-file";
import { bundleNames } from "@trendvault/contract/pointer";
import { Random } from "@trendvault/kit/random";
import { TestPublicationSigner, testStoreName } from "@trendvault/kit/signers";
import { type Bucket, BundleStore } from "./bundle-store.ts";
import { Backoff } from "./document-source.ts";

const begun = Date.parse("2026-11-22T03:40:00Z") / 1000;
const signer = await TestPublicationSigner.create();
const stranger = await TestPublicationSigner.create();
const keys = { keys: [signer.publicKey] };
const random = new Random();
const utf8 = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
const sha256 = (bytes: string | Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest();

let now: number;
let objects: Map<string, Uint8Array<ArrayBuffer>>;
let failure: Error | null;
let reads: string[];
let events: string[];
/** What a read of a bundle waits for. */
let slow: (name: string) => Promise<unknown>;
beforeEach(() => {
  [now, objects, failure, reads, events, slow] = [begun, new Map(), null, [], [], async () => {}];
});

function sign(
  generation: number,
  { by = signer, at = begun, store = testStoreName } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const published_at = new Date(at * 1000).toISOString().replace(".000Z", "Z");
  const bundle = putBundle(generation);
  return by.signBundlePointer({ store, generation, published_at, bundle });
}

/** Puts a bundle without any document into the bucket. */
function putBundle(generation: number): BundleFile {
  const facts = { generation, generated_at: "2026-11-22T03:40:00Z", signed_at: begun, limits: [24] };
  const magic = BundleIndexWriter.beginning;
  const end = new BundleIndexWriter(sha256).finish(facts, magic.length);
  const bytes = Uint8Array.from(Buffer.concat([magic, end.buckets, end.index]));
  const name = (part: Uint8Array) => sha256(part).toString("base64url");
  const file = {
    sha256: name(bytes),
    bytes: bytes.length,
    index_bytes: end.index.length,
    index_sha256: name(end.index),
  };
  objects.set(bundleNames.bundle({ generation, sha256: file.sha256 }), bytes);
  return file;
}

/** What isolates of one data centre share. */
function newDataCentre() {
  const shared = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    match: async (name: string) => shared.get(name) ?? null,
    put: async (name: string, bytes: Uint8Array<ArrayBuffer>) => void shared.set(name, bytes),
    delete: async (name: string) => void shared.delete(name),
  };
}

function newIsolate(shared = newDataCentre()) {
  const get = async (name: string, { onlyIf, range }: R2GetOptions = {}) => {
    if (range === undefined) reads.push(name);
    if (failure !== null) throw failure;
    const bytes = objects.get(name);
    if (bytes === undefined) return null;
    const { offset = 0, length } = (range ?? {}) as { offset?: number; length?: number };
    if (length !== undefined) {
      await slow(name);
      return { arrayBuffer: async () => bytes.slice(offset, offset + length).buffer };
    }
    const etag = new TextDecoder().decode(bytes).slice(-20);
    if (etag === (onlyIf as R2Conditional | undefined)?.etagDoesNotMatch) return { etag };
    return { etag, size: bytes.length, body: null, arrayBuffer: async () => bytes.slice().buffer };
  };
  const log = ({ event, reason }: { event: string; reason?: unknown }) => events.push(`${event}: ${reason}`);
  const backoff = new Backoff(5, () => 0.5);
  const clock = () => now;
  const bucket = { get } as unknown as Bucket;
  const store = { bucket, prefix: "", store: testStoreName, shared };
  const { pointers } = new BundleStore({ ...store, keys, timeoutSeconds: 60, backoff, clock, log });
  const current = async () => (await pointers.current(() => {})).pointer.generation;
  return {
    current,
    of: async (generation: number) => (await pointers.ofGeneration(generation, () => {}))?.generation,
  };
}

test("it is read once in five seconds by a data centre, however many of its isolates ask", async () => {
  objects.set("bundle.json", await sign(7));
  const shared = newDataCentre();
  const [one, other] = [newIsolate(shared), newIsolate(shared)];
  for (; now < begun + 60; now++) {
    await Promise.all([one.current(), one.current(), other.current()]);
    expect(await other.current()).toBe(7);
  }
  expect(reads.length).toBeLessThanOrEqual(24); // two that ask in the same second both find it due
});

test("a newer one is taken within five seconds", async () => {
  objects.set("bundle.json", await sign(7));
  const { current } = newIsolate();
  expect(await current()).toBe(7);
  objects.set("bundle.json", await sign(8));
  now += 5;
  expect(await current()).toBe(8);
});

test("one whose bundle comes late takes the place of no newer one", async () => {
  objects.set("bundle.json", await sign(7));
  const { current } = newIsolate();
  const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  slow = (name) => {
    if (!name.startsWith("bundles/7-")) return Promise.resolve();
    asked.resolve();
    return late.promise;
  };
  try {
    const first = current();
    await asked.promise;
    objects.set("bundle.json", await sign(8));
    setSystemTime(Date.now() + 62_000); // it is waited for no longer
    expect(await current()).toBe(8);
    late.resolve();
    expect([await first, await current()]).toEqual([8, 8]);
  } finally {
    setSystemTime();
  }
});

const refused: [string, () => Promise<Uint8Array<ArrayBuffer>>, RegExp][] = [
  ["an older generation", () => sign(6), /older than one/],
  ["the same one, signed before", () => sign(7, { at: begun - 60 }), /older than one/],
  ["a newer one of another key", () => sign(8, { by: stranger }), /unknown-key/],
  ["a newer one, signed in the future", () => sign(8, { at: begun + 120 }), /from-future/],
  ["a newer one of another store", () => sign(8, { store: "trendvault/staging" }), /other-store/],
  ["garbage", async () => utf8("{}"), /malformed/],
];
test.each(refused)(
  "%s is refused and logged, and what was read before stays, in other isolates too",
  async (_, make, reason) => {
    objects.set("bundle.json", await sign(7));
    const shared = newDataCentre();
    const one = newIsolate(shared);
    expect(await one.current()).toBe(7);
    objects.set("bundle.json", await make());
    now += 6;
    expect(await one.current()).toBe(7);
    expect(events).toEqual([expect.stringMatching(reason)]);
    expect(await newIsolate(shared).current()).toBe(7);
  },
);

test("when another isolate says that it read the bucket in the future, the bucket is read", async () => {
  const shared = newDataCentre();
  objects.set("bundle.json", await sign(7));
  expect(await newIsolate(shared).current()).toBe(7);
  const { text, etag } = JSON.parse(
    new TextDecoder().decode((await shared.match("bundle.json")) ?? undefined),
  );
  await shared.put("bundle.json", utf8(JSON.stringify({ text, etag, checkedAt: now + 61 })));
  objects.set("bundle.json", await sign(8));
  expect(await newIsolate(shared).current()).toBe(8);
});

test(`whatever else the data centre's cache has, the bucket is read (TEST_SEED=${random.seed})`, async () => {
  objects.set("bundle.json", await sign(7));
  objects.set("bundles/5.json", await sign(5));
  const signed = new TextDecoder().decode(await sign(6));
  const draw = (value: unknown) => random.pick([value, undefined, null, 7, "text", [], {}]);
  for (let draws = 0; draws < 200; draws++) {
    const made = { text: draw(signed), etag: draw("tag"), checkedAt: draw(now - 5) };
    const stored = random.pick([JSON.stringify(random.pick([made, draw(made)])), signed, "", "{"]) ?? "";
    const shared = newDataCentre();
    for (const name of ["bundle.json", "bundles/5.json"]) await shared.put(name, utf8(stored));
    const { current, of } = newIsolate(shared);
    const found = [stored, await current().catch(String), await of(5).catch(String)];
    expect(found).toEqual([stored, 7, 5]);
    expect(await shared.match("bundles/5.json")).toEqual(await sign(5));
  }
});

test("one that may not be served any more is no lower bound: a store that was set up anew counts from 1", async () => {
  objects.set("bundle.json", await sign(7));
  const { current } = newIsolate();
  expect(await current()).toBe(7);
  now += 86_401;
  objects.set("bundle.json", await sign(1, { at: now }));
  expect(await current()).toBe(1);
});

test("a bucket that fails is read less and less often, and the pointer that is held stays", async () => {
  objects.set("bundle.json", await sign(7));
  const { current } = newIsolate();
  await current();
  failure = new Error("500");
  for (; now < begun + 600; now++) expect(await current()).toBe(7);
  expect(reads.length).toBeLessThan(40); // 20 s apart in the mean
});

test("without any pointer it says why, and does not read again at once", async () => {
  const { current } = newIsolate();
  for (let turn = 0; turn < 10; turn++) await expect(current()).rejects.toThrow("bundle.json is not there");
  expect(reads).toHaveLength(1);
});

test("that of another generation is read once; one that is gone is null, one of another number is refused", async () => {
  objects.set("bundles/5.json", await sign(5));
  objects.set("bundles/4.json", await sign(3));
  const { of } = newIsolate();
  expect([await of(5), await of(5), await of(2)]).toEqual([5, 5, undefined]);
  expect(reads).toEqual(["bundles/5.json", "bundles/2.json"]);
  await expect(of(4)).rejects.toThrow("of another generation");
});

/** Changes a bundle so that nothing of it can be read. */
function harm(generation: number, how: "missing" | "cut" | "changed"): void {
  for (const [name, bytes] of objects) {
    if (!name.startsWith(`bundles/${generation}-`)) continue;
    if (how === "missing") objects.delete(name);
    if (how === "cut") objects.set(name, bytes.slice(0, bytes.length - 20));
    if (how === "changed") objects.set(name, bytes.with(bytes.length - 20, (bytes.at(-20) ?? 0) ^ 1));
  }
}

test.each(["missing", "cut", "changed"] as const)(
  "one whose bundle is %s is not taken, by no isolate: the generation before stays, or is found",
  async (how) => {
    for (const generation of [5, 6]) objects.set(bundleNames.pointer(generation), await sign(generation));
    objects.set(bundleNames.current, await sign(6));
    const { current } = newIsolate();
    expect(await current()).toBe(6);
    objects.set(bundleNames.current, await sign(7));
    const whole = new Map(objects);
    harm(7, how);
    now += 6;
    expect([await current(), await newIsolate().current()]).toEqual([6, 6]);
    harm(6, how);
    expect([await current(), await newIsolate().current()]).toEqual([6, 5]);
    harm(5, how);
    await expect(newIsolate().current()).rejects.toThrow();
    objects = whole;
    now += 36; // the longest back-off
    expect(await current()).toBe(7);
  },
);
