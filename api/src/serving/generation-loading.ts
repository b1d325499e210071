import type { Generation } from "../database/generation.ts";

type LoadingOptions = {
  /** The time between two steps; 0 waits only until the sockets were looked at. */
  pauseMs: number;
  onLoaded: () => void;
  /** Called with the error that ended it. */
  onFailed: (error: unknown) => void;
};

/** Reads a generation, a step at a time, so that no request waits for more than one. It never throws. */
export class GenerationLoading {
  readonly generation: Generation;
  readonly #steps: Iterator<void, void>;
  readonly #options: LoadingOptions;
  #isStopped = false;

  constructor(generation: Generation, steps: Iterator<void, void>, options: LoadingOptions) {
    this.generation = generation;
    this.#steps = steps;
    this.#options = options;
  }

  /** Begins after a delay in milliseconds. */
  start(delayMs: number): void {
    if (delayMs === 0) setImmediate(this.#step);
    else setTimeout(this.#step, delayMs);
  }

  stop(): void {
    this.#isStopped = true;
  }

  readonly #step = (): void => {
    if (this.#isStopped) return;
    try {
      if (this.#steps.next().done) this.#options.onLoaded();
      else this.start(this.#options.pauseMs);
    } catch (error) {
      this.stop();
      this.#options.onFailed(error);
    }
  };
}
