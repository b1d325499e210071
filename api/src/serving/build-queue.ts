const shortestPauseMs = 1; // a collection of what builds leave behind takes more
const usualLongestPauseMs = 20; // a build that took longer has waited for others

type Options = {
  yieldTurn?: () => Promise<void>;
  pause?: (milliseconds: number) => Promise<void>;
  longestPauseMs?: number | undefined;
};

/**
 * Does the expensive work one job at a time, with a pause of twice its time after each, and a job a step at a time (see builder.ts), so
 * that a flood of cold requests cannot make the warm ones wait for more than one step, and takes a third of the time at
 * most. A key that is already waiting, or being worked on, is not queued again (single-flight).
 */
export class BuildQueue {
  readonly #capacity: number;
  readonly #yieldTurn: () => Promise<void>;
  readonly #pause: NonNullable<Options["pause"]>;
  readonly #longestPauseMs: number;
  readonly #waiting = new Map<string, { run: () => Promise<void>; result: Promise<unknown> }>();

  /** `yieldTurn` comes before the first of several jobs, `pause` between two. */
  constructor(
    capacity: number,
    {
      yieldTurn = yieldToEventLoop,
      pause = (milliseconds) => Bun.sleep(milliseconds),
      longestPauseMs = usualLongestPauseMs,
    }: Options = {},
  ) {
    this.#capacity = capacity;
    this.#yieldTurn = yieldTurn;
    this.#pause = pause;
    this.#longestPauseMs = longestPauseMs;
  }

  /** The job's result, or null when too many are waiting. Jobs of one key must have one result type. */
  run<T>(key: string, job: () => Promise<T>): Promise<T> | null {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting.result as Promise<T>;
    if (this.#waiting.size >= this.#capacity) return null;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.set(key, { run: () => job().then(resolve, reject), result: promise });
    if (this.#waiting.size === 1) void this.#drain();
    return promise;
  }

  async #drain(): Promise<void> {
    await this.#yieldTurn();
    for (const [key, { run }] of this.#waiting) {
      const started = performance.now();
      await run();
      const pauseMs = 2 * (performance.now() - started);
      this.#waiting.delete(key);
      if (this.#waiting.size > 0)
        await this.#pause(Math.min(this.#longestPauseMs, Math.max(shortestPauseMs, pauseMs)));
    }
  }
}

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

/** Resolves once the event loop has looked at its sockets. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
