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

const routes: RouteName[] = ["trending", "video", "regions", "openapi", "jwks", "problem", "healthz", "none"];

/** What was sent from prepared answers, for one route. */
export type Tally = { ok: number; notModified: number; bytes: number };

/** A worker's figures. Plain fields, since a warm request pays for each of them. */
export class Counters {
  readonly tallies = Object.fromEntries(
    routes.map((route) => [route, { ok: 0, notModified: 0, bytes: 0 }]),
  ) as Record<RouteName, Tally>;
  readonly #others = new Map<string, number>();
  /** Requests that waited for a build. */
  misses = 0;
  builds = 0;
  buildSeconds = 0;
  readonly #buckets = new Float64Array(latencyBounds.length + 1);
  #seconds = 0;

  /** Anything that was not sent from a prepared answer. */
  count(route: RouteName, status: number): void {
    const name = `${route} ${status}`;
    this.#others.set(name, (this.#others.get(name) ?? 0) + 1);
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
    const { misses, builds, buildSeconds } = this;
    const requests = Object.fromEntries(this.#others);
    let [prepared, bytes] = [0, 0];
    for (const [route, tally] of Object.entries(this.tallies)) {
      if (tally.ok > 0) requests[`${route} 200`] = tally.ok;
      if (tally.notModified > 0) requests[`${route} 304`] = tally.notModified;
      prepared += tally.ok + tally.notModified;
      bytes += tally.bytes;
    }
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
