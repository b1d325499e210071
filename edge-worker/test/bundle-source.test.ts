import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type BundleFile,
  type BundleRange,
  readBundleIndex,
  readDocument,
} from "@trendvault/contract/bundle-file";
import { bundleName } from "@trendvault/contract/pointer";
import { regionCodes } from "@trendvault/contract/regions";
import { drawsOf, Random } from "@trendvault/contract/test-support/random";
import { bundleKeySet, edgeSeed, objectsOf, type Rendered, renderBundle } from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { InProcessEdge } from "./in-process-edge.ts";
import { MemoryBucket } from "./memory-bucket.ts";

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
    bucket.put([[bundleName({ generation, sha256: file.sha256 }), bytes]]);
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
    for (let draw = 0; draw < drawsOf({ usual: 5, long: 500 }); draw++) {
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
    expect(bucket.reads).toHaveLength(1 + 3); // the pointer, and three times the index
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
