import { afterSockets, type NextTurn } from "./next-turn.ts";

/**
 * Does the expensive work one job at a time and at most one a turn of the event loop, and a job a step at a time (see
 * signed-build.ts), so that a flood of cold requests cannot make the warm ones wait for more than one step. A key that is already waiting, or being
 * worked on, is not queued again (single-flight).
 */
export class BuildQueue {
  readonly #capacity: number;
  readonly #nextTurn: NextTurn;
  readonly #waiting = new Map<string, { run: () => Promise<void>; result: Promise<unknown> }>();

  constructor(capacity: number, nextTurn: NextTurn = afterSockets) {
    this.#capacity = capacity;
    this.#nextTurn = nextTurn;
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
    for (const [key, { run }] of this.#waiting) {
      await this.#nextTurn();
      await run();
      this.#waiting.delete(key);
    }
  }
}
