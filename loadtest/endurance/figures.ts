import type { Excuse, Site } from "./outages.ts";

/** What clients of a site saw in a minute. Times in milliseconds. */
export type MinuteOfSite = {
  minute: number;
  site: Site;
  requests: number;
  torn: number;
  refused: number;
  failed: number;
  p50: number;
  p99: number;
};

/** `failure` is why an answer was wrong or missing, `excuse` what explains it without a fault. */
export type Outcome = {
  second: number;
  site: Site;
  ms: number;
  failure: string | null;
  excuse: Excuse | null;
};

type OpenMinute = Omit<MinuteOfSite, "requests" | "p50" | "p99"> & { times: number[] };

const keptFailures = 20;

/** Adds outcomes up by minute, so that a run of days needs no more memory than one of minutes. */
export class Figures {
  readonly minutes: MinuteOfSite[] = [];
  /** The first ones, as sentences. */
  readonly failures: string[] = [];
  readonly #open = new Map<string, OpenMinute>();

  add({ second, site, ms, failure, excuse }: Outcome): void {
    const minute = Math.floor(second / 60);
    const key = `${minute} ${site}`;
    const one = this.#open.get(key) ?? { minute, site, times: [], torn: 0, refused: 0, failed: 0 };
    this.#open.set(key, one);
    one.times.push(ms);
    if (failure === null) return;
    one[excuse ?? "failed"]++;
    if (excuse === null && this.failures.length < keptFailures) {
      this.failures.push(`second ${Math.round(second)}, ${site}: ${failure}`);
    }
  }

  /** Closes the minutes that ended before a second, or all of them. */
  close(before = Number.POSITIVE_INFINITY): void {
    for (const [key, { minute, site, times, torn, refused, failed }] of this.#open) {
      if ((minute + 1) * 60 > before) continue;
      this.#open.delete(key);
      times.sort((left, right) => left - right);
      const requests = times.length;
      this.minutes.push({
        minute,
        site,
        requests,
        torn,
        refused,
        failed,
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
      });
    }
  }
}

/** Of sorted numbers, by the nearest rank. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((left, right) => left - right),
    0.5,
  );
}
