import type { ListRefusal } from "@trendvault/contract/queries";
import { LruMap } from "./cache.ts";
import type { CanonicalRequest } from "./policy.ts";
import type { StoredResponse } from "./signed-answer.ts";
import { isBeforeDeadline } from "./single-flight.ts";

/** Where documents come from: the origin, or a bundle. */
export interface DocumentSource {
  /** Until when it is not to be asked, because it fails, in Unix seconds; null when it may be. */
  readonly waitsUntil: number | null;
  /** Asks it, when the client may cause that. Logs why it failed, if it did; never throws. */
  read(canonical: CanonicalRequest, held: Held): Promise<SourceAnswer>;
}

/** Keeps the Worker running until the work is done, after the response was sent. */
export type WaitUntil = (work: Promise<unknown>) => void;

/** What is known when a source is asked. */
export type Held = {
  /** The response that is in the cache, unless it may not be served any more. */
  stored: StoredResponse | null;
  waitUntil: WaitUntil;
  /** Whether this client may cause reads; counts it, once for all sources. */
  mayRead: () => Promise<boolean>;
};

export type SourceAnswer =
  | { kind: "response"; response: StoredResponse }
  /** The stored response is the newest that it has, and so it is until a time (Unix seconds). */
  | { kind: "unchanged"; until: number }
  /** There is no such document, as far as is known until a time (Unix seconds). */
  | ({ kind: "refused"; until: number } & SourceRefusal)
  /** It gave none. `status`: of its answer, if there was one. It asks not to be asked for `retryAfter` seconds. */
  | { kind: "failed"; status: number | null; retryAfter: number }
  /** It was not asked. */
  | { kind: "waiting"; until: number }
  /** This client has asked too much. */
  | { kind: "rate-limited" };

/** Why there is no document. `nearest`: the address of the one that people are led to instead. */
export type SourceRefusal = { refusal: ListRefusal; nearest?: string };

/** `lostSeconds`: after so long a request without an outcome counts as lost, having been cancelled. `clock`: Unix seconds. */
type BreakerOptions = { lostSeconds: number; clock: () => number };

/** A request that may be sent. One that ends after the breaker has opened, or opened again, says nothing any more. */
export type Attempt = { readonly era: number };

const failuresToOpen = 3; // in a row, of any targets
const probeSeconds = 1; // from a failure to the next request
const longestRetryAfter = 10; // seconds: it is not signed
const widest = 32; // requests at once that have to be well before any number may be sent

/**
 * A circuit breaker for a source as a whole, such as the origin. After three failures in a row it is asked by one request
 * a second. Each success lets twice as many be under way, until it is closed; a failure begins anew with one.
 */
export class SourceBreaker {
  readonly #options: BreakerOptions;
  #era = 0;
  #failures = 0;
  #waitsUntil = 0;
  /** How many requests may be under way. */
  #room = Number.POSITIVE_INFINITY;
  #underWay = 0;
  #lastBegun = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Until when the source is not to be asked, in Unix seconds; null when it may be. */
  get waitsUntil(): number | null {
    if (!this.#isOpen) return null;
    const now = this.#options.clock();
    if (isBeforeDeadline(this.#waitsUntil, { now, longest: longestRetryAfter })) return this.#waitsUntil;
    const lostAt = this.#lastBegun + this.#options.lostSeconds;
    const isLost = !isBeforeDeadline(lostAt, { now, longest: this.#options.lostSeconds });
    return this.#underWay < this.#room || isLost ? null : now + probeSeconds;
  }

  /** Begins a request to the source, which has to succeed or fail. Null when it may not be asked. */
  begin(): Attempt | null {
    if (this.waitsUntil !== null) return null;
    if (this.#underWay >= this.#room) this.#narrow(); // what is under way is lost
    this.#underWay++;
    this.#lastBegun = this.#options.clock();
    return { era: this.#era };
  }

  succeed({ era }: Attempt): void {
    if (era !== this.#era) return;
    this.#underWay--;
    this.#failures = 0;
    this.#room *= 2;
    if (this.#room > widest) this.#room = Number.POSITIVE_INFINITY;
  }

  /** `retryAfter`: the shortest wait, in seconds. `isRefusal`: the request may have been wrong, and not the source. */
  fail({ era }: Attempt, { retryAfter, isRefusal }: { retryAfter: number; isRefusal: boolean }): void {
    if (era !== this.#era) return;
    this.#underWay--;
    if (!isRefusal) this.#failures++;
    const isProbe = this.#room === 1;
    if (!isRefusal && (this.#isOpen || this.#failures >= failuresToOpen)) this.#narrow();
    else if (!isProbe) return;
    const wait = Math.max(probeSeconds, Math.min(isRefusal ? 0 : retryAfter, longestRetryAfter));
    this.#waitsUntil = this.#options.clock() + wait;
  }

  #narrow(): void {
    this.#era++;
    this.#room = 1;
    this.#underWay = 0;
  }

  get #isOpen(): boolean {
    return this.#room !== Number.POSITIVE_INFINITY;
  }
}

/** A failure that is remembered. While `isBackingOff`, it is too early for another try. */
type RecentFailure<T> = { result: T; isBackingOff: boolean };

type Failure<T> = { result: T; count: number; endsAt: number };

const rememberedSeconds = 60; // after the back-off: clients get the last result at once, and a retry runs behind it
const longestHold = { factor: 2, slack: 10 }; // sources may be waited for a bit longer than one back-off lasts
const capacity = 1024;

/** Remembers failures by key, so that a failing origin is asked once per back-off and not once per client. */
export class FailureBackoff<T> {
  readonly #failures = new LruMap<Failure<T>>(capacity);
  readonly #backoff: Backoff;
  readonly #clock: () => number;

  /** `clock` gives Unix seconds. */
  constructor(backoff: Backoff, clock: () => number) {
    this.#backoff = backoff;
    this.#clock = clock;
  }

  /** `retryAfter`: the shortest back-off, in seconds. With each failure in a row it becomes longer. */
  record(key: string, result: T, retryAfter: number): void {
    const count = (this.#remembered(key)?.count ?? 0) + 1;
    const endsAt = this.#clock() + this.#backoff.secondsAfter(count, retryAfter);
    this.#failures.set(key, { result, count, endsAt });
  }

  /** Remembers that the key was not tried, because none is until a time (Unix seconds). */
  hold(key: string, result: T, endsAt: number): void {
    this.#failures.set(key, { result, count: this.#remembered(key)?.count ?? 0, endsAt });
  }

  clear(key: string): void {
    this.#failures.delete(key);
  }

  /** The last failure of a key, or null when it succeeded since or its back-off ended more than 60 s ago. */
  recent(key: string): RecentFailure<T> | null {
    const failure = this.#remembered(key);
    return failure === null ? null : { result: failure.result, isBackingOff: this.#clock() < failure.endsAt };
  }

  #remembered(key: string): Failure<T> | null {
    const failure = this.#failures.get(key);
    if (failure === null) return null;
    const forgottenAt = failure.endsAt + rememberedSeconds;
    const held = longestHold.factor * this.#backoff.longestSeconds + longestHold.slack;
    const longest = held + rememberedSeconds;
    return isBeforeDeadline(forgottenAt, { now: this.#clock(), longest }) ? failure : null;
  }
}

/** How long to wait after failures. */
export class Backoff {
  /** No wait is longer, in seconds. */
  readonly longestSeconds: number;
  readonly #seconds: number;
  readonly #random: () => number;

  /** `seconds` is the mean wait after the first failure; `random` gives a number from 0 to below 1. */
  constructor(seconds: number, random: () => number) {
    this.#seconds = seconds;
    this.#random = random;
    this.longestSeconds = seconds * longestFactor;
  }

  /**
   * How many seconds to wait after a number of failures in a row: at random, up to twice as long with each of them (full
   * jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). At least `retryAfter` seconds,
   * but that is not signed, so it is bounded as well.
   */
  secondsAfter(failures: number, retryAfter = 0): number {
    const jittered = this.#random() * Math.min(this.longestSeconds, this.#seconds * 2 ** failures);
    return Math.max(jittered, Math.min(retryAfter, this.longestSeconds));
  }
}

const longestFactor = 6; // half a minute when the first wait is of 5 s
