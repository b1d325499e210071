import type { Origin } from "../origin.ts";
import type { Report } from "./messages.ts";

const reportEvery = 1000; // milliseconds

/** Tells how a worker is doing. */
export class Reporter {
  readonly #origin: Origin;
  readonly #send: (report: Report) => void;
  #lastTick: number | null = null;
  #lag = 0; // milliseconds
  #reportedAt = Number.NEGATIVE_INFINITY;
  #trouble: string | null = null;

  constructor(origin: Origin, send: (report: Report) => void) {
    this.#origin = origin;
    this.#send = send;
  }

  /** To be called by a steady timer: the variation of the distances is the event loop's lag. */
  tick(now: number): void {
    if (this.#lastTick !== null) this.#lag = Math.max(this.#lag, now - this.#lastTick - expectedDistance);
    this.#lastTick = now;
    if (now - this.#reportedAt < reportEvery && this.#origin.watch.trouble === this.#trouble) return;
    this.#reportedAt = now;
    this.report();
  }

  report(): void {
    const { state, watch } = this.#origin;
    const generation = state.edition?.generation ?? null;
    this.#trouble = watch.trouble;
    this.#send({
      counters: state.counters.snapshot(),
      generation: generation === null ? null : { id: generation.id, publishedAt: generation.publishedAt },
      trouble: watch.trouble,
      lagSeconds: this.#lag / 1000,
      rssBytes: process.memoryUsage.rss(),
    });
    this.#lag = 0;
  }
}

const expectedDistance = 50; // milliseconds, the worker's timer
