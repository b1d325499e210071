import { afterPause, afterSockets, type NextTurn } from "./next-turn.ts";

const shortestPauseMs = 1; // a collection of what builds leave behind takes more
const usualLongestPauseMs = 20; // a build that took longer has waited for others

type Options = {
  nextTurn?: NextTurn;
  pause?: (milliseconds: number) => Promise<void>;
  longestPauseMs?: number | undefined;
};

/**
 * Does the expensive work one job at a time, with a pause of twice its time after each, and a job a step at a time (see signed-build.ts), so
 * that a flood of cold requests cannot make the warm ones wait for more than one step, and takes a third of the time at
 * most. A key that is already waiting, or being worked on, is not queued again (single-flight).
 */
export class BuildQueue {
  readonly #capacity: number;
  readonly #nextTurn: NextTurn;
  readonly #pause: NonNullable<Options["pause"]>;
  readonly #longestPauseMs: number;
  readonly #waiting = new Map<string, { run: () => Promise<void>; result: Promise<unknown> }>();

  /** `nextTurn` comes before the first of several jobs, `pause` between two. */
  constructor(
    capacity: number,
    {
      nextTurn = afterSockets,
      pause = (milliseconds) => afterPause(milliseconds)(),
      longestPauseMs = usualLongestPauseMs,
    }: Options = {},
  ) {
    this.#capacity = capacity;
    this.#nextTurn = nextTurn;
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
    await this.#nextTurn();
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
