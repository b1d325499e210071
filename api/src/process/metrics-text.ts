import { AggregatorRegistry, type PrometheusContentType } from "prom-client";
import { type CounterSnapshot, latencyBounds, sumCounters } from "../serving/counters.ts";
import type { Reports } from "./admin.ts";
import type { Report } from "./messages.ts";

type Labels = Record<string, string | number>;
type Value = { labels: Labels; value: number; metricName?: string };
type Metric = { name: string; help: string; type: string; values: Value[]; aggregator: "sum" };

/** All workers as one page of Prometheus text. `now` is Unix time in seconds. */
export async function metricsText({ running, departed }: Reports, now: number) {
  const counters = sumCounters([departed, ...running.map((report) => report.counters)]);
  const metrics = [
    ...describeCounters(counters),
    describeLatency(counters),
    ...describeWorkers(running, now),
  ];
  const registry = AggregatorRegistry.aggregate<PrometheusContentType>([metrics]);
  return { text: await registry.metrics(), contentType: registry.contentType };
}

function describeCounters(counters: CounterSnapshot): Metric[] {
  const requests = Object.entries(counters.requests).map(([name, value]) => {
    const [route = "", status = ""] = name.split(" ");
    return { labels: { route, status }, value };
  });
  return [
    metric("counter", "trendvault_requests_total", "Requests by route and status", requests),
    single(
      "counter",
      "trendvault_cache_hits_total",
      "Requests answered from prepared answers",
      counters.hits,
    ),
    single("counter", "trendvault_cache_misses_total", "Requests that waited for a build", counters.misses),
    single("counter", "trendvault_builds_total", "Answers built, asked for or ahead", counters.builds),
    single("counter", "trendvault_build_seconds_total", "Time spent building answers", counters.buildSeconds),
    single(
      "counter",
      "trendvault_body_bytes_total",
      "Bytes of the bodies of prepared answers",
      counters.bytes,
    ),
  ];
}

function describeLatency({ latency }: CounterSnapshot): Metric {
  const name = "trendvault_request_duration_seconds";
  const help = "From a request's arrival in the handler to its answer; up to 20 requests a second are timed";
  const bounds: (string | number)[] = [...latencyBounds, "+Inf"];
  let count = 0;
  const values: Value[] = bounds.map((le, index) => {
    count += latency.buckets[index] ?? 0;
    return { labels: { le }, value: count, metricName: `${name}_bucket` };
  });
  values.push({ labels: {}, value: latency.sum, metricName: `${name}_sum` });
  values.push({ labels: {}, value: count, metricName: `${name}_count` });
  return metric("histogram", name, help, values);
}

function describeWorkers(running: Report[], now: number): Metric[] {
  const served = running.flatMap(({ generation }) => generation ?? []);
  const ofWorkers = (pick: (report: Report) => number) =>
    running.map((report, worker) => ({ labels: { worker }, value: pick(report) }));
  const oldest = Math.min(...served.map(({ id }) => id));
  const age = now - Math.min(...served.map(({ publishedAt }) => publishedAt));
  return [
    metric(
      "gauge",
      "trendvault_generation",
      "The oldest generation that a worker serves",
      valueIfAny(served, oldest),
    ),
    metric(
      "gauge",
      "trendvault_generation_age_seconds",
      "Time since that generation",
      valueIfAny(served, age),
    ),
    single("gauge", "trendvault_workers", "Workers that report", running.length),
    single(
      "gauge",
      "trendvault_degraded_workers",
      "Workers that cannot read the database",
      countTroubled(running),
    ),
    metric(
      "gauge",
      "trendvault_event_loop_lag_seconds",
      "Longest in a second",
      ofWorkers((r) => r.lagSeconds),
    ),
    metric(
      "gauge",
      "trendvault_resident_memory_bytes",
      "Resident memory",
      ofWorkers((r) => r.rssBytes),
    ),
  ];
}

function valueIfAny(served: unknown[], value: number): Value[] {
  return served.length === 0 ? [] : [{ labels: {}, value }];
}

function countTroubled(running: Report[]): number {
  return running.filter(({ trouble }) => trouble !== null).length;
}

function single(type: string, name: string, help: string, value: number): Metric {
  return metric(type, name, help, [{ labels: {}, value }]);
}

function metric(type: string, name: string, help: string, values: Value[]): Metric {
  return { name, help, type, values, aggregator: "sum" };
}
