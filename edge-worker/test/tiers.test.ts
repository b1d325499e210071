import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Exchange, signAgain } from "@trendvault/kit/keys";
import { EdgeOrigin } from "@trendvault/kit/origin-process";
import { validateOriginResponse } from "../src/origin.ts";
import { canonicalize } from "../src/policy.ts";
import type { StoredResponse } from "../src/signed-answer.ts";
import {
  bundleKeySet,
  type Fault,
  MemoryBucket,
  objectsOf,
  type Rendered,
  renderBundle,
  stranger,
} from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { InProcessEdge, withFetch } from "./in-process-edge.ts";

// What is served, and how it is marked, in every state of every tier: memory and cache, origin, bundle, KV.

const target = "/api/trending?region=DE";
const never = new Promise<never>(() => {});

const caches = ["nothing", "fresh", "stale", "expired"] as const;
const origins = ["none", "good", "failing"] as const;
const bundles = ["none", "good", "old", "broken"] as const;
const copies = ["nothing", "good"] as const;
type State = {
  cache: (typeof caches)[number];
  origin: (typeof origins)[number];
  bundle: (typeof bundles)[number];
  copy: (typeof copies)[number];
};

/** What there is to know about the order of the tiers. */
function expected({ cache, origin, bundle, copy }: State): string {
  if (cache === "fresh") return "200 hit";
  if (cache === "stale") return "200 hit detail=stale-while-revalidate";
  const fwd = cache === "expired" ? "fwd=stale" : "fwd=miss";
  if (origin === "good") return `200 ${fwd} fwd-status=200 stored`;
  if (bundle === "good")
    return `200 ${fwd} fwd-status=200 stored${origin === "failing" ? " detail=bundle" : ""}`;
  if (bundle === "old") return `200 ${fwd} fwd-status=200 stored detail=bundle-fallback`;
  if (cache === "expired") return `200 ${fwd} detail=stale-if-error`;
  if (copy === "good") return `200 ${fwd} detail=kv-fallback`;
  return "503";
}

const silent = "a bucket that does not answer";
const broken: [string, (rendered: Rendered) => Promise<MemoryBucket>][] = [
  ["an empty bucket", async () => new MemoryBucket()],
  ["a bucket that throws", (rendered) => failing(rendered, { read: () => Promise.reject(new Error("500")) })],
  [silent, (rendered) => failing(rendered, { read: () => never })],
  ["garbage", (rendered) => failing(rendered, { bytes: (bytes) => bytes.map((byte) => byte ^ 0x55) })],
  [
    "halves of its objects",
    (rendered) => failing(rendered, { bytes: (all) => all.slice(0, all.length / 2) }),
  ],
  ["a pointer that another key has signed", async (rendered) => bucketOf(rendered, { signer: stranger })],
];

async function bucketOf(rendered: Rendered, options = {}): Promise<MemoryBucket> {
  return new MemoryBucket(await objectsOf(rendered, options));
}

async function failing(rendered: Rendered, fault: Fault): Promise<MemoryBucket> {
  const bucket = await bucketOf(rendered);
  bucket.fault = () => fault;
  return bucket;
}

let database: TestDatabase;
let origin: EdgeOrigin;
let rendered: Rendered;
let exchange: Exchange;
beforeAll(async () => {
  database = makeDatabase();
  origin = await EdgeOrigin.start(database.path);
  rendered = renderBundle(database.path);
  const response = await origin.fetch(target);
  exchange = {
    status: 200,
    headers: [...response.headers] as [string, string][],
    body: await response.text(),
  };
}, 1_200_000);
afterAll(async () => {
  await origin.kill();
  database.remove();
});

/** The list as the origin has signed it at a time (Unix seconds). */
function signedAt(created: number): Exchange {
  const whole = {
    status: 200,
    headers: Object.fromEntries(exchange.headers),
    body: Buffer.from(exchange.body),
  };
  return { ...exchange, headers: Object.entries(signAgain(whole, Math.floor(created)).headers) };
}

async function storedAt(fetchedAt: number, generatedAt: number): Promise<StoredResponse> {
  const { canonical } = canonicalize(new URL(target, "http://a"));
  if (canonical === null) throw new Error(target);
  const { status, headers, body } = signedAt(fetchedAt);
  const received = { status, headers: new Headers(headers), body: new TextEncoder().encode(body) };
  const keys = JSON.parse(bundleKeySet);
  const validated = await validateOriginResponse(received, { canonical, stored: null, now: fetchedAt, keys });
  if (validated.kind !== "response") throw new Error(validated.reason);
  return { ...validated.response, generatedAt };
}

/** What a client sees, and how long ago that was the newest. */
async function serve(
  state: State,
  bucket: MemoryBucket | null,
  timeoutSeconds: number,
): Promise<[string, number]> {
  const age = state.bundle === "old" ? 1000 : 10;
  const now = rendered.signedAt + age;
  const stored: Record<State["cache"], () => Promise<StoredResponse[]>> = {
    nothing: async () => [],
    fresh: async () => [await storedAt(now - 1, now - 1)],
    stale: async () => [await storedAt(now - 300, now - 300)],
    expired: async () => [await storedAt(now - 2000, now - 2000)],
  };
  const copy = state.copy === "good" ? await storedAt(now - 500, now - 500) : null;
  const edge = new InProcessEdge(
    {
      stored: await stored[state.cache](),
      fallback: copy,
      hasOrigin: state.origin !== "none",
      ...(bucket !== null && { bundles: { bucket, keySet: bundleKeySet, timeoutSeconds } }),
    },
    () => now,
  );
  const failure: Exchange = { status: 500, headers: [], body: "" };
  const answer = () => (state.origin === "good" ? signedAt(now) : failure);
  const [status, fields, body] = JSON.parse(await withFetch(answer, () => edge.ask(target)));
  const headers = new Headers(fields);
  if (status !== 200) return [String(status), Number.NaN];
  expect(JSON.parse(body)).toMatchObject({ region: "DE", generation: 1 });
  const found = (headers.get("cache-status") ?? "").replace("trendvault; ", "").replace(/; ttl=-?\d+/, "");
  return [`200 ${found.replaceAll("; ", " ")}`, Number(headers.get("age"))];
}

/** The buckets that are in a state, by name. */
function bucketsIn(
  bundle: State["bundle"],
): [string, (rendered: Rendered) => Promise<MemoryBucket | null>][] {
  if (bundle === "broken") return broken;
  return bundle === "none" ? [["none", async () => null]] : [[bundle, bucketOf]];
}

const states = origins.flatMap((origin) =>
  bundles.filter((bundle) => bundle !== "none" || origin !== "none").map((bundle) => ({ origin, bundle })),
);

test.each(states)(
  "%o",
  async ({ origin, bundle }) => {
    for (const [name, make] of bucketsIn(bundle)) {
      for (const [cache, copy] of caches.flatMap((cache) => copies.map((copy) => [cache, copy] as const))) {
        const state = { cache, origin, bundle, copy };
        const [seen, age] = await serve(state, await make(rendered), name === silent ? 0.05 : 30);
        expect([name, state, seen]).toEqual([name, state, expected(state)]);
        if (seen.endsWith("bundle-fallback")) expect(Math.abs(age - 1000)).toBeLessThan(10);
      }
    }
  },
  1_200_000,
);
