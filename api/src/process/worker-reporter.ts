import type { Origin } from "../origin.ts";
import type { WorkerReport } from "./messages.ts";

const reportIntervalMs = 1000;

/** Sends a worker's report to the supervisor. */
export class WorkerReporter {
  readonly #origin: Origin;
  readonly #send: (report: WorkerReport) => void;
  readonly #tickIntervalMs: number;
  #lastTick: number | null = null;
  #lagMs = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #degradedReason: string | null = null;

  /** `tickIntervalMs` is the interval of the timer that calls `tick`. */
  constructor(origin: Origin, tickIntervalMs: number, send: (report: WorkerReport) => void) {
    this.#origin = origin;
    this.#tickIntervalMs = tickIntervalMs;
    this.#send = send;
  }

  /** Call it from a steady timer (`now` in milliseconds): how late it comes is the lag of the event loop. */
  tick(now: number): void {
    if (this.#lastTick !== null) {
      this.#lagMs = Math.max(this.#lagMs, now - this.#lastTick - this.#tickIntervalMs);
    }
    this.#lastTick = now;
    const isDue = now - this.#reportedAt >= reportIntervalMs;
    if (!isDue && this.#origin.degradedReason === this.#degradedReason) return;
    this.#reportedAt = now;
    this.report();
  }

  /** Sends a report now. */
  report(): void {
    const status = this.#origin.status();
    this.#degradedReason = status.degradedReason;
    const residentBytes = process.memoryUsage.rss();
    this.#send({ ...status, eventLoopLagSeconds: this.#lagMs / 1000, residentBytes });
    this.#lagMs = 0;
  }
}
