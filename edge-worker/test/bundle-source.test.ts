import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { regionCodes } from "@trendvault/contract/regions";
import { bundleKeySet, objectsOf, type Rendered, renderBundle } from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { InProcessEdge } from "./in-process-edge.ts";
import { MemoryBucket } from "./memory-bucket.ts";

const targets = regionCodes.flatMap((region) => [
  `/api/trending?region=${region}`,
  `/api/trending?region=${region}&window=week`,
  `/feeds/${region}.json`,
  `/api/videos/${region.toLowerCase()}-3`,
  `/?region=${region}`,
]);

describe("an edge without an origin", () => {
  let database: TestDatabase;
  const published: Rendered[] = [];
  beforeAll(() => {
    database = makeDatabase();
    published.push(renderBundle(database.path));
    database.publish();
    published.push(renderBundle(database.path));
  }, 60_000);
  afterAll(() => database.remove());

  test.each([
    ["one store", [""]],
    ["two joined stores", ["one", "two"]],
  ])("counts what a client makes it read of %s, and nothing while that is the newest", async (_, prefixes) => {
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
  });
});
