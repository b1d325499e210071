import assert from "node:assert/strict";
import { regionCodes } from "@trendvault/contract/regions";
import { bundleKeySet, edgeSigningKey, objectsOf, renderBundle, storeName } from "../test/bundles.ts";
import { makeDatabase } from "../test/database.ts";
import { Edge } from "../test/edge.ts";
import type { TrafficResult } from "../test/traffic-worker.ts";
import { processorSeconds, workerdProcesses } from "./workerd-processes.ts";

// Prints, as JSON, what Zipf requests cost an edge without an origin: processor time in workerd, its client and the
// local bucket included, and reads of the bucket, while a generation is published each minute.
//   node edge-worker/bench/originless-cost.ts [MINUTES]

const minutes = Number(process.argv[2] ?? 4);
assert.ok(Number.isInteger(minutes) && minutes > 0, "expected a number of minutes, like 4");
const requestsPerMinute = 10_000;
const batches = 20; // a minute

const database = makeDatabase();
const keys = { ORIGIN_JWKS: bundleKeySet, EDGE_KEYS: "", EDGE_SIGNING_KEY: edgeSigningKey };
const edge = await Edge.start("", { ...keys, BUNDLE_PREFIX: "lists", BUNDLE_NAMES: storeName("lists") });
try {
  await publish();
  await send(2000); // until the code is warm
  const hits = await measure(20_000);
  const minute = await measureMinutes();
  console.log(JSON.stringify({ processor_microseconds_per_hit: hits, ...minute }));
} finally {
  await edge.close();
  database.remove();
}

async function publish(): Promise<void> {
  const bucket = await edge.bundles();
  const objects = await objectsOf(renderBundle(database.path), { prefix: "lists/" });
  for (const [key, bytes] of objects) await bucket.put(key, bytes);
}

/** Microseconds of processor time a request. */
async function measure(requests: number): Promise<number> {
  const pids = workerdProcesses();
  const before = processorSeconds(pids);
  await send(requests);
  return Math.round(((processorSeconds(pids) - before) / requests) * 1e6);
}

async function measureMinutes() {
  const before = await reads();
  for (let minute = 0; minute < minutes; minute++) {
    const end = Date.now() + 60_000;
    database.publish();
    await publish();
    for (let batch = 0; batch < batches; batch++) {
      await send(requestsPerMinute / batches);
      await new Promise((resume) => setTimeout(resume, (end - Date.now()) / (batches - batch)));
    }
  }
  const after = await reads();
  const pointers = (after.pointers - before.pointers) / minutes;
  const ranges = (after.ranges - before.ranges) / minutes;
  return {
    pointer_reads_per_minute: Math.round(pointers),
    bundle_reads_per_minute: Math.round(ranges),
    requests_per_minute: requestsPerMinute,
  };
}

async function reads() {
  return (await send(1)).bucketReads ?? { pointers: 0, ranges: 0 };
}

/** Regions by Zipf's law, windows and limits as in loadtest/popularity.py and loadtest/compare/request_mix.py. */
async function send(requests: number): Promise<TrafficResult> {
  const sum = regionCodes.reduce((total, _, index) => total + 1 / (index + 1), 0);
  const result = await edge.runTraffic({
    requests,
    concurrency: Math.min(requests, 50),
    clients: regionCodes.map((region, index) => ({
      region,
      country: region,
      share: 1 / (index + 1) / sum,
    })),
    windows: [
      { window: "day", share: 0.8 },
      { window: "now", share: 0.15 },
      { window: "week", share: 0.05 },
    ],
    limits: [
      { limit: 24, share: 0.7 },
      { limit: 12, share: 0.15 },
      { limit: 50, share: 0.1 },
      { limit: 10, share: 0.05 },
    ],
  });
  assert.equal(result.wrong, 0, JSON.stringify(result.byCacheStatus));
  return result;
}
