import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { listLengths, windows } from "@trendvault/contract/lists";
import { regionCodes } from "@trendvault/contract/regions";
import { Edge } from "@trendvault/kit/edge";
import { bundleKeySet, edgeSigningKey, objectsOf, renderBundle, storeName } from "../test/bundles.ts";
import { makeDatabase } from "../test/database.ts";
import { startTestStack } from "../test/test-stack.ts";

// Prints, as JSON, processor time in workerd of the deployed bundle, its client included:
//   node edge-worker/bench/cost.ts hit [REQUESTS]         of a cache hit
//   node edge-worker/bench/cost.ts originless [MINUTES]   of Zipf requests to an edge without an origin, with reads of its
//                                                         bucket, while a generation is published each minute
const [, , kind = "", count] = process.argv;
const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const measure = { hit: measureHits, originless: measureOriginless }[kind];
assert.ok(measure, "expected hit or originless");
const number = count === undefined ? undefined : Number(count);
assert.ok(number === undefined || (Number.isInteger(number) && number > 0), "expected a whole number from 1");
await measure(number);

async function measureHits(requests = 20_000): Promise<void> {
  const stack = await startTestStack();
  const send = async (hits: number) => {
    const clients = [{ country: "CH", region: "DE", share: 1 }];
    const traffic = { requests: hits, concurrency: 50, clients, windows: [{ window: "day", share: 1 }] };
    assert.equal((await stack.edge.runTraffic(traffic)).wrong, 0);
  };
  try {
    await send(2000); // until the list is cached and the code is warm
    const microseconds = await microsecondsOf(() => send(requests), requests);
    console.log(JSON.stringify({ requests, processor_microseconds_per_hit: microseconds }));
  } finally {
    await stack.close();
  }
}

async function measureOriginless(minutes = 4): Promise<void> {
  const requestsPerMinute = 10_000;
  const batches = 20; // a minute
  const database = makeDatabase();
  const keys = { ORIGIN_JWKS: bundleKeySet, EDGE_KEYS: "", EDGE_SIGNING_KEY: edgeSigningKey };
  const edge = await Edge.start("", { ...keys, BUNDLE_PREFIX: "lists", BUNDLE_NAMES: storeName("lists") });
  const publish = async () => {
    const bucket = await edge.bundles();
    const objects = await objectsOf(renderBundle(database.path), { prefix: "lists/" });
    for (const [key, bytes] of objects) await bucket.put(key, bytes);
  };
  const send = async (requests: number) => {
    const result = await edge.runTraffic({ requests, concurrency: Math.min(requests, 50), ...zipfTraffic() });
    assert.equal(result.wrong, 0, JSON.stringify(result.byCacheStatus));
    return result.bucketReads ?? { pointers: 0, ranges: 0 };
  };
  try {
    await publish();
    await send(2000); // until the code is warm
    const microseconds = await microsecondsOf(() => send(20_000), 20_000);
    const before = await send(1);
    for (let minute = 0; minute < minutes; minute++) {
      const end = Date.now() + 60_000;
      database.publish();
      await publish();
      for (let batch = 0; batch < batches; batch++) {
        await send(requestsPerMinute / batches);
        await new Promise((resume) => setTimeout(resume, (end - Date.now()) / (batches - batch)));
      }
    }
    const after = await send(1);
    const figures = {
      processor_microseconds_per_hit: microseconds,
      pointer_reads_per_minute: Math.round((after.pointers - before.pointers) / minutes),
      bundle_reads_per_minute: Math.round((after.ranges - before.ranges) / minutes),
      requests_per_minute: requestsPerMinute,
    };
    console.log(JSON.stringify(figures));
  } finally {
    await edge.close();
    database.remove();
  }
}

/** Regions by Zipf's law, windows and limits about as in loadtest/contract.py and loadtest/compare/environment.py. */
function zipfTraffic() {
  const sum = regionCodes.reduce((total, _, index) => total + 1 / (index + 1), 0);
  const otherShare = 0.2 / (windows.length - 1);
  return {
    clients: regionCodes.map((region, index) => ({ region, country: region, share: 1 / (index + 1) / sum })),
    windows: windows.map((window) => ({ window, share: window === "day" ? 0.8 : otherShare })),
    limits: [
      { limit: listLengths.defaultPage, share: 0.7 },
      { limit: listLengths.defaultPage / 2, share: 0.15 },
      { limit: listLengths.largestPage, share: 0.1 },
      { limit: 10, share: 0.05 },
    ],
  };
}

/** Processor time of the workerd processes that this one has started, for each of so many requests. */
async function microsecondsOf(work: () => Promise<unknown>, requests: number): Promise<number> {
  const processes = readdirSync("/proc").filter((name) => {
    const stat = readStat(name);
    return stat?.name === "workerd" && stat.parent === process.pid; // two: our Worker, and what is in front of it locally
  });
  const ticks = () => processes.reduce((sum, name) => sum + (readStat(name)?.ticks ?? 0), 0);
  const before = ticks();
  await work();
  return Math.round(((ticks() - before) / ticksPerSecond / requests) * 1e6);
}

// proc_pid_stat(5): pid (name) state ppid … with utime and stime as fields 14 and 15.
function readStat(pid: string): { name: string; parent: number; ticks: number } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null; // not a process, or it has ended
  }
  const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
  const fields = rest.split(" ").map(Number);
  return { name, parent: fields[1] ?? 0, ticks: (fields[11] ?? 0) + (fields[12] ?? 0) };
}
