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
type Outcome = {
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

/** By the nearest rank. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

const median = (values: readonly number[]) => quantile(values, 0.5);

/** Where clients ask. */
const sites = ["edge", "origin"] as const;
export type Site = (typeof sites)[number];

/** Why a request failed without a fault: a kill has torn it, or a clock that is wrong had it refused. */
type Excuse = "torn" | "refused";

type Outage = { site: Site; from: number; until: number; excuse: Excuse };

/**
 * When which site was killed, and until when it may have been away: a request that was open then may be torn, and is no
 * failure. And when its clock was so wrong that it refuses those whose clocks are right, and they it: only that is no
 * failure then. Times are of `performance.now()`.
 */
export class Outages {
  readonly #outages: Outage[] = [];

  /** Gives the function that ends it. */
  begin(site: Site, from: number, excuse: Excuse = "torn"): (until: number) => void {
    const outage = { site, from, until: Number.POSITIVE_INFINITY, excuse };
    this.#outages.push(outage);
    return (until) => {
      outage.until = until;
    };
  }

  /** What excuses the failure of a request that began and ended at these times: an outage of its site in which it was open. */
  excuseOf(
    site: Site,
    { from, until, failure }: { from: number; until: number; failure: string },
  ): Excuse | null {
    const open = this.#outages.filter(
      (outage) => outage.site === site && from <= outage.until && until >= outage.from,
    );
    const explains = ({ excuse }: Outage) => excuse === "torn" || isRefusalByClock(failure);
    return open.find(explains)?.excuse ?? null;
  }
}

/** What an origin says to a request that was signed at another time than its own, and a verifier of an answer. */
function isRefusalByClock(failure: string): boolean {
  return (
    /: status 403: .*edge signature/.test(failure) || failure.includes("Cannot verify the answer: outdated")
  );
}

/** How long a site goes on serving generations that are not the newest any more. Times are of `performance.now()`. */
export class StaleServing {
  readonly #endedAt = new Map<number, number>();
  #newest: number | null = null;
  #longestMs = 0;

  /** This is the newest generation of the database now. */
  noteNewest(generation: number, at: number): void {
    for (let past = this.#newest ?? generation; past < generation; past++) this.#endedAt.set(past, at);
    this.#newest = generation;
  }

  /** This generation was served. */
  noteServed(generation: number, at: number): void {
    this.#longestMs = Math.max(this.#longestMs, at - (this.#endedAt.get(generation) ?? at));
  }

  get longestSeconds(): number {
    return this.#longestMs / 1000;
  }
}

/** What was measured beside what is allowed; `measured` is null where there is nothing to compare. */
type Judgement = { name: string; measured: number | null; most: number; isMet: boolean };

/**
 * `recoverySeconds` is how long each event took until everything was well again, `staleSeconds` the longest that the
 * edge served a list for which there was a newer one.
 */
type Measured = {
  samples: Sample[];
  minutes: MinuteOfSite[];
  recoverySeconds: number[];
  staleSeconds: number;
};

/** The limits, and all there is to say about them, are in loadtest/README.md. */
const limits = {
  growth: 1.1, // of memory, handles and the file
  overEmpty: 1.75, // also when both have levelled off; thirds of a run differ by when the edge was killed
  p99Growth: 1.5,
  walMegabytes: 64,
  recoverySeconds: 60,
  staleSeconds: 300,
} as const;

/** While caches fill and code is compiled. */
const warmUpShare = 0.15;

/** Compares the last third of a run with the first one after the warm-up. */
export function judgeRun({ samples, minutes, recoverySeconds, staleSeconds }: Measured): Judgement[] {
  const grown = (name: string, pick: (sample: Sample) => number) =>
    judge(name, growthOf(samples.map(pick)), limits.growth);
  const overEmpty = samples.map((one) => one.edgeMegabytes / one.emptyMegabytes).filter(Number.isFinite);
  return [
    judge("failed requests", sumOf(minutes.map(({ failed }) => failed)), 0),
    grown("memory of the origin", ({ originMegabytes }) => originMegabytes),
    judge("memory of the edge over an empty one's", quantile(overEmpty, 0.95), limits.overEmpty),
    grown("handles of the origin", ({ originHandles }) => originHandles),
    grown("handles of the edge", ({ edgeHandles }) => edgeHandles),
    grown("database file", ({ databaseMegabytes }) => databaseMegabytes),
    judge("largest WAL, MB", Math.max(...samples.map((one) => one.walMegabytes)), limits.walMegabytes),
    ...sites.map((site) => {
      const ofSite = minutes.filter((one) => one.site === site).map(({ p99 }) => p99);
      return judge(`p99 of the ${site}`, growthOf(ofSite), limits.p99Growth);
    }),
    judge("longest recovery, s", Math.max(0, ...recoverySeconds), limits.recoverySeconds),
    judge("a list at the edge after the next one, s", staleSeconds, limits.staleSeconds),
  ];
}

/** The median of the last third over that of the first third after the warm-up; null of fewer than six values. */
function growthOf(values: readonly number[]): number | null {
  const warm = values.slice(Math.floor(values.length * warmUpShare));
  const third = Math.floor(warm.length / 3);
  if (third < 2) return null;
  return median(warm.slice(-third)) / median(warm.slice(0, third));
}

function judge(name: string, measured: number | null, most: number): Judgement {
  return { name, measured, most, isMet: measured !== null && measured <= most };
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** What is measured of the processes and files every few seconds. */
export type Sample = {
  second: number;
  originMegabytes: number;
  edgeMegabytes: number;
  /** Of a workerd with an empty Worker. */
  emptyMegabytes: number;
  originHandles: number;
  edgeHandles: number;
  databaseMegabytes: number;
  walMegabytes: number;
};
