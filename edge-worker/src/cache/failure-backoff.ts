import { LruMap } from "./lru-map.ts";

/** A failure that is remembered. While `isBackingOff`, it is too early for another try. */
export type RecentFailure<T> = { result: T; isBackingOff: boolean };

const rememberedSeconds = 60; // after the back-off: clients get the last result at once, and a retry runs behind it
const capacity = 1024;

/** Remembers failures by key, so that a failing origin is asked once per back-off and not once per client. */
export class FailureBackoff<T> {
  readonly #failures = new LruMap<{ result: T; endsAt: number }>(capacity);
  readonly #seconds: number;
  readonly #clock: () => number;

  /** `seconds`: how long a back-off is. `clock` gives Unix seconds. */
  constructor(seconds: number, clock: () => number) {
    this.#seconds = seconds;
    this.#clock = clock;
  }

  record(key: string, result: T): void {
    this.#failures.set(key, { result, endsAt: this.#clock() + this.#seconds });
  }

  clear(key: string): void {
    this.#failures.delete(key);
  }

  /** The last failure of a key, or null when it succeeded since or its back-off ended more than 60 s ago. */
  recent(key: string): RecentFailure<T> | null {
    const failure = this.#failures.get(key);
    const now = this.#clock();
    if (failure === null || now >= failure.endsAt + rememberedSeconds) return null;
    return { result: failure.result, isBackingOff: now < failure.endsAt };
  }
}
