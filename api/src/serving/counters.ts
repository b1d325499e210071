import type { RouteName } from "../answers/resource.ts";

/** Upper bounds of the latency histogram, in seconds. The last bucket has no bound. */
export const latencyBounds = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 1];

/** What a worker has counted since it started; plain data, so that it can be sent and summed. */
export type CounterSnapshot = {
  requests: Record<string, number>;
  hits: number;
  misses: number;
  builds: number;
  buildSeconds: number;
  bytes: number;
  latency: { buckets: number[]; sum: number };
};

const statuses = [200, 204, 304, 400, 403, 404, 405, 406, 410, 414, 500, 503] as const;
const routes: RouteName[] = ["trending", "video", "regions", "openapi", "jwks", "healthz", "none"];

/** Where a route's and status's requests are counted, to be kept beside what is counted often. */
export function counterIndex(route: RouteName, status: number): number {
  const column = statuses.indexOf(status as (typeof statuses)[number]);
  if (column === -1) throw new Error(`Cannot count status ${status}: add it to the list`);
  return routes.indexOf(route) * statuses.length + column;
}

/** A worker's figures. Plain fields, since the warm path pays for each of them. */
export class Counters {
  readonly requests = new Float64Array(routes.length * statuses.length);
  /** Requests that waited for a build. */
  misses = 0;
  builds = 0;
  buildSeconds = 0;
  bytes = 0;
  readonly #buckets = new Float64Array(latencyBounds.length + 1);
  #seconds = 0;

  /** A prepared answer was sent. `index` comes from counterIndex. */
  served(index: number, bytes: number): void {
    this.requests[index] = (this.requests[index] ?? 0) + 1;
    this.bytes += bytes;
  }

  count(route: RouteName, status: number): void {
    const index = counterIndex(route, status);
    this.requests[index] = (this.requests[index] ?? 0) + 1;
  }

  built(seconds: number): void {
    this.builds++;
    this.buildSeconds += seconds;
  }

  observe(seconds: number): void {
    const bucket = latencyBounds.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? latencyBounds.length : bucket;
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1;
    this.#seconds += seconds;
  }

  snapshot(): CounterSnapshot {
    const requests: Record<string, number> = {};
    let prepared = 0;
    for (const route of routes) {
      for (const status of statuses) {
        const count = this.requests[counterIndex(route, status)] ?? 0;
        if (count > 0) requests[`${route} ${status}`] = count;
        if (route !== "healthz" && (status === 200 || status === 304)) prepared += count;
      }
    }
    const { misses, builds, buildSeconds, bytes } = this;
    const latency = { buckets: [...this.#buckets], sum: this.#seconds };
    return { requests, hits: prepared - misses, misses, builds, buildSeconds, bytes, latency };
  }
}

/** The sum of what several workers have counted. */
export function sumCounters(snapshots: readonly CounterSnapshot[]): CounterSnapshot {
  const sum = (pick: (snapshot: CounterSnapshot) => number) =>
    snapshots.reduce((total, snapshot) => total + pick(snapshot), 0);
  const names = new Set(snapshots.flatMap(({ requests }) => Object.keys(requests)));
  return {
    requests: Object.fromEntries(
      [...names].map((name) => [name, sum(({ requests }) => requests[name] ?? 0)]),
    ),
    hits: sum(({ hits }) => hits),
    misses: sum(({ misses }) => misses),
    builds: sum(({ builds }) => builds),
    buildSeconds: sum(({ buildSeconds }) => buildSeconds),
    bytes: sum(({ bytes }) => bytes),
    latency: {
      buckets: [...latencyBounds, 0].map((_, index) => sum(({ latency }) => latency.buckets[index] ?? 0)),
      sum: sum(({ latency }) => latency.sum),
    },
  };
}
