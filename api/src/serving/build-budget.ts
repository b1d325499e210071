const burst = 128; // lists: some 60 ms
const perSecond = 10; // less than a hundredth of the time: those who wait for it are not among the 99 %

/**
 * Which builds are done at once instead of in the queue. Bun loses the answers of a connection whose next request, or
 * end, arrives while an answer is waited for; nothing tells one connection from another here, and nothing should. So as
 * many builds are done at once as a client may send in one packet, and of a flood no more than its share (a token
 * bucket): the rest goes to the queue, so that requests for what is in the cache do not wait.
 */
export class BuildBudget {
  readonly #now: () => number;
  #tokens = burst;
  #refilledAt: number;

  /** `now` gives milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#refilledAt = now();
  }

  /** Whether a build may be done at once that takes as long as `lists` of a list. */
  take(lists = 1): boolean {
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#refilledAt) / 1000) * perSecond);
    this.#refilledAt = now;
    if (this.#tokens < lists) return false;
    this.#tokens -= lists;
    return true;
  }
}
