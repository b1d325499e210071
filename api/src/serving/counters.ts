import { type RouteName, routeNames } from "../resources/resource.ts";

/** Upper bounds of the latency histogram, in seconds. The last bucket has no bound. */
export const latencyBounds = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 1];

/** What was counted, as plain data that other processes can be sent. */
export type CounterValues = {
  /** By route and status: "trending 200". */
  requests: Record<string, number>;
  /** Requests answered without a build, and with one. */
  hits: number;
  misses: number;
  builds: number;
  buildSeconds: number;
  /** Of bodies sent from the cache. */
  bytes: number;
  /** `buckets` as in latencyBounds, each with its own requests only; `sum` in seconds. */
  latency: { buckets: number[]; sum: number };
};

/** What two workers have counted together. `left` may be of an older build, which had fewer buckets. */
export function sumCounters(left: CounterValues, right: CounterValues): CounterValues {
  const sums = { ...left.requests };
  for (const [name, count] of Object.entries(right.requests)) sums[name] = (sums[name] ?? 0) + count;
  const buckets = right.latency.buckets.map((count, index) => count + (left.latency.buckets[index] ?? 0));
  return {
    requests: sums,
    hits: left.hits + right.hits,
    misses: left.misses + right.misses,
    builds: left.builds + right.builds,
    buildSeconds: left.buildSeconds + right.buildSeconds,
    bytes: left.bytes + right.bytes,
    latency: { buckets, sum: left.latency.sum + right.latency.sum },
  };
}

/** What was sent from the cache, for one route; `bytes` are those of the bodies. */
type RouteCounters = { ok: number; notModified: number; bytes: number };

/** What a worker counts. Plain fields, since every request pays for them. */
export class Counters {
  readonly byRoute = Object.fromEntries(
    routeNames.map((route) => [route, { ok: 0, notModified: 0, bytes: 0 }]),
  ) as Record<RouteName, RouteCounters>;
  readonly #others = new Map<string, number>();
  /** Requests that waited for a build. */
  misses = 0;
  builds = 0;
  buildSeconds = 0;
  readonly #buckets = new Float64Array(latencyBounds.length + 1);
  #seconds = 0;

  /** Counts an answer that was not sent from the cache. */
  count(route: RouteName, status: number): void {
    const name = `${route} ${status}`;
    this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
  }

  countBuild(seconds: number): void {
    this.builds++;
    this.buildSeconds += seconds;
  }

  /** Adds a request to the latency histogram. */
  observe(seconds: number): void {
    const bucket = latencyBounds.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? latencyBounds.length : bucket;
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    this.#seconds += seconds;
  }

  read(): CounterValues {
    const { misses, builds, buildSeconds } = this;
    const requests = Object.fromEntries(this.#others);
    let [cached, bytes] = [0, 0];
    for (const [route, sent] of Object.entries(this.byRoute)) {
      if (sent.ok > 0) requests[`${route} 200`] = sent.ok;
      if (sent.notModified > 0) requests[`${route} 304`] = sent.notModified;
      cached += sent.ok + sent.notModified;
      bytes += sent.bytes;
    }
    const latency = { buckets: [...this.#buckets], sum: this.#seconds };
    return { requests, hits: cached - misses, misses, builds, buildSeconds, bytes, latency };
  }
}
