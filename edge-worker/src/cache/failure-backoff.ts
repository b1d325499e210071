import { type BackoffOptions, backoffSeconds, longestBackoffSeconds } from "../rules/backoff.ts";
import { isStillAhead } from "../rules/still-ahead.ts";
import { LruMap } from "./lru-map.ts";

/** A failure that is remembered. While `isBackingOff`, it is too early for another try. */
export type RecentFailure<T> = { result: T; isBackingOff: boolean };

type Failure<T> = { result: T; count: number; endsAt: number };

const rememberedSeconds = 60; // after the back-off: clients get the last result at once, and a retry runs behind it
const longestHold = { factor: 2, slack: 10 }; // sources may be waited for a bit longer than one back-off lasts
const capacity = 1024;

/** Remembers failures by key, so that a failing origin is asked once per back-off and not once per client. */
export class FailureBackoff<T> {
  readonly #failures = new LruMap<Failure<T>>(capacity);
  readonly #options: BackoffOptions;
  readonly #clock: () => number;

  /** `clock` gives Unix seconds. */
  constructor(options: BackoffOptions, clock: () => number) {
    this.#options = options;
    this.#clock = clock;
  }

  /** `retryAfter`: the shortest back-off, in seconds. With each failure in a row it becomes longer. */
  record(key: string, result: T, retryAfter: number): void {
    const count = (this.#remembered(key)?.count ?? 0) + 1;
    const endsAt = this.#clock() + backoffSeconds(count, retryAfter, this.#options);
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
    const held = longestHold.factor * longestBackoffSeconds(this.#options) + longestHold.slack;
    const longest = held + rememberedSeconds;
    return isStillAhead(forgottenAt, { now: this.#clock(), longest }) ? failure : null;
  }
}
