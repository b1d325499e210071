import type { Aggregator, PrometheusContentType, Registry as RegistryOf } from "@prometheus-io/client";
import { clockSkewSeconds } from "@trendvault/contract/lists";
import { type CounterValues, latencyBounds } from "../serving/counters.ts";
import type { WorkerExits, WorkerReport } from "./messages.ts";

/** What the admin port needs of the workers, and why the origin is degraded although no worker says so. */
type WorkerStatistics = {
  readonly reports: WorkerReport[];
  readonly goneCounters: CounterValues | null;
  readonly exits: WorkerExits;
  readonly reasons: string[];
  /** Whether the last reload found a bad key file. */
  readonly hasRejectedKeys: boolean;
};

const keptForMs = 1000; // whoever asks for metrics all the time takes little of the time for visitors

/** What the admin port answers: /metrics for Prometheus, /readyz for people and load balancers. */
export function adminRoutes(read: () => WorkerStatistics) {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let written: ReturnType<typeof metrics>;
  return {
    "/readyz": () => readiness(read()),
    "/metrics": async () => {
      if (performance.now() - writtenAt >= keptForMs) {
        writtenAt = performance.now();
        written = metrics(read());
      }
      const { text, contentType } = await written;
      return new Response(text, { headers: { "content-type": contentType } });
    },
    "/*": () => new Response("No such path; there are /metrics and /readyz.\n", { status: 404 }),
  };
}

/** 200 while there is something to serve, also when it is not the newest; `reasons` say why it is not. */
function readiness(workers: Pick<WorkerStatistics, "reports" | "reasons">): Response {
  const { reports } = workers;
  const served = reports.flatMap(({ generation }) => generation ?? []);
  const reasons = findReasons(workers);
  const isReady = served.length > 0;
  return Response.json(
    {
      status: isReady ? (reasons.length === 0 ? "ok" : "degraded") : "unavailable",
      reasons,
      workers: reports.length,
      generation: isReady ? Math.min(...served.map(({ id }) => id)) : null,
    },
    { status: isReady ? 200 : 503, headers: { "cache-control": "no-store" } },
  );
}

/** Why something else is served than the newest generation, whole, by all workers, or with a wrong time. */
function findReasons({ reports, reasons: others }: Pick<WorkerStatistics, "reports" | "reasons">): string[] {
  const ofWorkers = reports.flatMap(({ degradedReason }) => degradedReason ?? []);
  const reasons = [...new Set([...ofWorkers, ...others, ...findClockReasons(reports)])];
  const isReady = reports.some(({ generation }) => generation !== null);
  return isReady || reasons.length > 0 ? reasons : ["No worker has a published generation yet"];
}

/** The other way round a wrong clock looks like a writer that stands still. */
function findClockReasons(reports: readonly WorkerReport[]): string[] {
  const seconds =
    Math.max(...reports.map(({ generation }) => generation?.publishedAt ?? 0)) - Date.now() / 1000;
  return seconds > clockSkewSeconds
    ? [`The clock of this machine is ${Math.ceil(seconds)} s before the newest generation: set it`]
    : [];
}

function metrics(workers: WorkerStatistics) {
  const { exits, hasRejectedKeys } = workers;
  const supervision = { exits, hasRejectedKeys, degradedReasons: findReasons(workers).length };
  const { reports, goneCounters } = workers;
  const now = Date.now() / 1000;
  return writeMetrics({ reports, goneCounters, supervision }, now);
}

type Metric = { name: string; help: string; type: MetricKind; values: Value[]; aggregator: Aggregator };
type MetricKind = "counter" | "gauge" | "histogram";
type Value = { labels: Record<string, string | number>; value: number; metricName?: string };

/** What no worker has counted. */
type Supervision = { exits: WorkerExits; hasRejectedKeys: boolean; degradedReasons: number };

type MetricsParts = {
  reports: readonly WorkerReport[];
  /** What the workers have counted that are away for the moment. */
  goneCounters: CounterValues | null;
  supervision: Supervision;
};

/** The metrics of all workers as Prometheus text. `now` is Unix time in seconds. */
async function writeMetrics({ reports, goneCounters, supervision }: MetricsParts, now: number) {
  const running = reports.map((report) => [
    ...describeCounters(report.counters),
    ...describeWorker(report, now),
  ]);
  const gone = goneCounters === null ? [] : describeCounters(goneCounters);
  const registry = aggregate([[...workerCount(0), ...describeSupervision(supervision)], gone, ...running]);
  return { text: await registry.metrics(), contentType: registry.contentType };
}

// Loaded with the first scrape: the start does not need it. The package's main file loads node:http, node:cluster
// and the like, too: 130 KB and 2 MB of memory for what nobody here calls.
function aggregate(all: readonly Metric[][]): RegistryOf<PrometheusContentType> {
  const Registry = require("@prometheus-io/client/lib/registry.js") as typeof RegistryOf;
  return Registry.aggregate<PrometheusContentType>([...all]);
}

function describeCounters(counters: CounterValues): Metric[] {
  const requests = Object.entries(counters.requests).map(([name, value]) => {
    const [route = "", status = ""] = name.split(" ");
    return { labels: { route, status }, value };
  });
  return [
    metric("requests_total", "counter", "Requests by route and status", requests),
    single("cache_hits_total", "counter", "Requests answered from the cache", counters.hits),
    single("cache_misses_total", "counter", "Requests that waited for a build", counters.misses),
    single("builds_total", "counter", "Builds of answers, on request or ahead", counters.builds),
    single(
      "build_seconds_total",
      "counter",
      "Time from the begin to the end of builds",
      counters.buildSeconds,
    ),
    single("body_bytes_total", "counter", "Bytes of the bodies sent from the cache", counters.bytes),
    describeLatency(counters),
  ];
}

// Buckets are cumulative in Prometheus' text.
function describeLatency({ latency }: CounterValues): Metric {
  const name = "sampled_request_duration_seconds";
  const metricName = `trendvault_${name}`;
  let count = 0;
  const values: Value[] = [...latencyBounds, "+Inf"].map((le, index) => {
    count += latency.buckets[index] ?? 0;
    return { labels: { le }, value: count, metricName: `${metricName}_bucket` };
  });
  values.push({ labels: {}, value: latency.sum, metricName: `${metricName}_sum` });
  values.push({ labels: {}, value: count, metricName: `${metricName}_count` });
  const help =
    "From a request's arrival in the handler to its answer; a sample of up to 50 a second and worker";
  return metric(name, "histogram", help, values);
}

function describeWorker(report: WorkerReport, now: number): Metric[] {
  const { slot, generation, degradedReason, eventLoopLagSeconds, residentBytes } = report;
  const id = generation === null ? [] : [{ labels: {}, value: generation.id }];
  // Of the writer that has not published for longest: one that has stopped has to show.
  const oldest = Math.min(...(generation?.rankings ?? []).map(({ publishedAt }) => publishedAt));
  const age = generation === null ? [] : [{ labels: {}, value: now - oldest }];
  const ofWorker = (value: number) => [{ labels: { worker: slot }, value }];
  const isDegraded = degradedReason === null ? 0 : 1;
  return [
    metric("generation", "gauge", "The oldest generation that a worker serves", id, "min"),
    metric("generation_age_seconds", "gauge", "Time since that generation", age, "max"),
    ...workerCount(1),
    single("degraded_workers", "gauge", "Workers that cannot read the database", isDegraded),
    metric(
      "event_loop_lag_seconds",
      "gauge",
      "The longest in the last second",
      ofWorker(eventLoopLagSeconds),
    ),
    metric("resident_memory_bytes", "gauge", "Resident memory", ofWorker(residentBytes)),
  ];
}

function describeSupervision({ exits, hasRejectedKeys, degradedReasons }: Supervision): Metric[] {
  const ended = Object.entries(exits).map(([reason, value]) => ({ labels: { reason }, value }));
  return [
    metric("worker_exits_total", "counter", "Workers that ended by themselves or hung", ended),
    single("degraded_reasons", "gauge", "Reasons that /readyz gives", degradedReasons),
    single("keys_rejected", "gauge", "1 after a reload with a bad key file", hasRejectedKeys ? 1 : 0),
  ];
}

function workerCount(count: number): Metric[] {
  return [single("workers", "gauge", "Workers that report", count)];
}

function single(name: string, type: MetricKind, help: string, value: number): Metric {
  return metric(name, type, help, [{ labels: {}, value }]);
}

function metric(
  name: string,
  type: MetricKind,
  help: string,
  values: Value[],
  aggregator: Aggregator = "sum",
): Metric {
  return { name: `trendvault_${name}`, help, type, values, aggregator };
}
