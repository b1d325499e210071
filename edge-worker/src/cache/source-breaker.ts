import { type BackoffOptions, backoffSeconds, longestBackoffSeconds } from "../rules/backoff.ts";
import { isStillAhead } from "../rules/still-ahead.ts";

/** `probeSeconds`: after so long a probe counts as lost, its request having been cancelled. `clock`: Unix seconds. */
type BreakerOptions = BackoffOptions & { probeSeconds: number; clock: () => number };

const failuresToOpen = 3; // in a row, of any targets

/**
 * A circuit breaker for a source as a whole, such as the origin. After three failures in a row it is not asked for a
 * while, longer with each failure, and then by one request at a time, until one succeeds.
 */
export class SourceBreaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #waitsUntil = 0;
  #isProbing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Until when the source is not to be asked, in Unix seconds; null when it may be. */
  get waitsUntil(): number | null {
    const longest = Math.max(this.#options.probeSeconds, longestBackoffSeconds(this.#options));
    const isWaiting = isStillAhead(this.#waitsUntil, { now: this.#options.clock(), longest });
    return this.#isOpen && isWaiting ? this.#waitsUntil : null;
  }

  /** Begins a request to the source, which has to succeed or fail. False when it may not be asked. */
  begin(): boolean {
    if (this.waitsUntil !== null) return false;
    if (this.#isOpen) {
      this.#isProbing = true;
      this.#waitsUntil = this.#options.clock() + this.#options.probeSeconds; // for all others
    }
    return true;
  }

  succeed(): void {
    this.#failures = 0;
    this.#isProbing = false;
  }

  /** `retryAfter`: the shortest wait, in seconds. `isRefusal`: the request may have been wrong, and not the source. */
  fail({ retryAfter, isRefusal }: { retryAfter: number; isRefusal: boolean }): void {
    const isLate = this.#isOpen && !this.#isProbing; // it began before the breaker opened
    if (isLate || (isRefusal && !this.#isOpen)) return;
    this.#isProbing = false;
    if (!isRefusal) this.#failures++;
    if (!this.#isOpen) return;
    const count = isRefusal ? 1 : this.#failures - failuresToOpen + 1; // a refusal says nothing about the source
    this.#waitsUntil = this.#options.clock() + backoffSeconds(count, retryAfter, this.#options);
  }

  get #isOpen(): boolean {
    return this.#failures >= failuresToOpen;
  }
}
