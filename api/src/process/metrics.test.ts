import { expect, test } from "bun:test";
import { generationMark, generationMarkOf } from "../../test-support/generation-mark.ts";
import { Counters } from "../serving/counters.ts";
import { sumExited, writeMetrics } from "./admin.ts";
import type { WorkerReport } from "./messages.ts";

function report(requests: number, changes: Partial<WorkerReport> = {}): WorkerReport {
  const counters = new Counters();
  counters.byRoute.trending.ok = requests;
  counters.observe(0.00002);
  const generation = generationMark(7, 1000);
  return {
    counters: counters.read(),
    generation,
    degradedReason: null,
    eventLoopLagSeconds: 0.5,
    residentBytes: 9,
    ...changes,
  };
}

const supervision = { exits: { crashed: 0, hung: 0 }, hasRejectedKeys: false, degradedReasons: 0 };

function writeAll(
  reports: WorkerReport[],
  now: number,
  others: Partial<Parameters<typeof writeMetrics>[0]> = {},
) {
  return writeMetrics({ reports, exitedCounters: [], supervision, ...others }, now);
}

test("counters add up over the workers that run and those that have exited", async () => {
  const exited = sumExited(sumExited([], report(1)), report(2));
  const { text } = await writeAll([report(10), report(20)], 1060, { exitedCounters: exited });
  const lines = text.split("\n");
  expect(lines).toContain('trendvault_requests_total{route="trending",status="200"} 33');
  expect(lines).toContain("trendvault_cache_hits_total 33");
  expect(lines).toContain('trendvault_sampled_request_duration_seconds_bucket{le="0.00001"} 0');
  expect(lines).toContain('trendvault_sampled_request_duration_seconds_bucket{le="0.00005"} 4');
  expect(lines).toContain('trendvault_sampled_request_duration_seconds_bucket{le="+Inf"} 4');
  expect(lines).toContain("trendvault_sampled_request_duration_seconds_count 4");
});

test("gauges say the oldest generation, how many workers are degraded, and each worker's memory", async () => {
  const degraded = { degradedReason: "gone", generation: generationMark(5, 900) };
  const { text } = await writeAll([report(1), report(1, degraded)], 1060);
  const lines = text.split("\n");
  expect(lines).toContain("trendvault_generation 5");
  expect(lines).toContain("trendvault_generation_age_seconds 160");
  expect(lines).toContain("trendvault_workers 2");
  expect(lines).toContain("trendvault_degraded_workers 1");
  expect(lines).toContain('trendvault_event_loop_lag_seconds{worker="1"} 0.5');
  expect(lines).toContain('trendvault_resident_memory_bytes{worker="1"} 9');
});

test("the age is that of the writer that has not published for longest", async () => {
  const generation = generationMarkOf(generationMark(7, 1000), generationMark(257, 400));
  const { text } = await writeAll([report(0, { generation })], 1060);
  expect(text.split("\n")).toContain("trendvault_generation_age_seconds 660");
});

test("without a worker or a generation there is no generation, and the number of workers is 0", async () => {
  const { text } = await writeAll([], 0);
  expect(text).toContain("trendvault_workers 0");
  const unpublished = await writeAll([report(0, { generation: null })], 0);
  expect(unpublished.text).not.toMatch(/^trendvault_generation/m);
});

test("workers that crashed and that hung are counted apart, from 0 on", async () => {
  const { text } = await writeAll([], 0, { supervision: { ...supervision, exits: { crashed: 3, hung: 0 } } });
  expect(text).toContain('trendvault_worker_exits_total{reason="crashed"} 3\n');
  expect(text).toContain('trendvault_worker_exits_total{reason="hung"} 0\n');
});
