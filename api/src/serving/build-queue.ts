/** Runs a job later, once the event loop has looked at its sockets. */
export type Schedule = (run: () => void) => void;

/**
 * Does the expensive work one job at a time and one a turn of the event loop, so that a flood of cold requests
 * cannot make the warm ones wait for more than one job. A key that is already waiting is not queued again.
 */
export class BuildQueue {
  readonly #most: number;
  readonly #schedule: Schedule;
  readonly #waiting = new Map<string, { run: () => void; result: Promise<unknown> }>();

  constructor(most: number, schedule: Schedule = setImmediate) {
    this.#most = most;
    this.#schedule = schedule;
  }

  get length(): number {
    return this.#waiting.size;
  }

  /** The job's result, or null when too many are waiting. Jobs of one key must have one result type. */
  run<T>(key: string, job: () => T): Promise<T> | null {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting.result as Promise<T>;
    if (this.#waiting.size >= this.#most) return null;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => {
      try {
        resolve(job());
      } catch (error) {
        reject(error);
      }
    };
    this.#waiting.set(key, { run, result: promise });
    if (this.#waiting.size === 1) this.#schedule(() => this.#runNext());
    return promise;
  }

  #runNext(): void {
    for (const [key, { run }] of this.#waiting) {
      this.#waiting.delete(key);
      run();
      break;
    }
    if (this.#waiting.size > 0) this.#schedule(() => this.#runNext());
  }
}
