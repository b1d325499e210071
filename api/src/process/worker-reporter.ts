import { closeSync, openSync } from "node:fs";
import type { TaskGuard } from "../logging/task-guard.ts";
import type { Origin } from "../origin.ts";
import type { WorkerReport } from "./messages.ts";

const reportIntervalMs = 1000;

type ReporterOptions = {
  guard: TaskGuard;
  /** The interval of the timer that calls `tick`. */
  tickIntervalMs: number;
  send: (report: WorkerReport) => void;
};

/** Sends a worker's report to the supervisor, which takes it for the sign that the worker does not hang. */
export class WorkerReporter {
  readonly #origin: Origin;
  readonly #options: ReporterOptions;
  #lastTick: number | null = null;
  #lagMs = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #residentBytes = 0;
  #reported: string | null = null;

  constructor(origin: Origin, options: ReporterOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Call it from a steady timer (`now` in milliseconds): how late it comes is the lag of the event loop. */
  tick(now: number): void {
    if (this.#lastTick !== null) {
      this.#lagMs = Math.max(this.#lagMs, now - this.#lastTick - this.#options.tickIntervalMs);
    }
    this.#lastTick = now;
    this.reportIfDue(now);
  }

  /** Sends a report when the last one is a second old, or no longer true (`now` in milliseconds). */
  reportIfDue(now: number): void {
    const isDue = now - this.#reportedAt >= reportIntervalMs;
    if (!isDue && this.#describe() === this.#reported) return;
    this.#reportedAt = now;
    this.report();
  }

  /** Sends a report now. */
  report(): void {
    const { guard, send } = this.#options;
    guard.run("open a file", () => closeSync(openSync("/dev/null", "r"))); // nor could a connection be accepted
    guard.run("measure memory", () => {
      this.#residentBytes = process.memoryUsage.rss(); // reads a file
    });
    this.#reported = this.#describe();
    send({
      ...this.#origin.status(),
      degradedReason: this.#degradedReason,
      eventLoopLagSeconds: this.#lagMs / 1000,
      residentBytes: this.#residentBytes,
    });
    this.#lagMs = 0;
  }

  get #degradedReason(): string | null {
    return this.#origin.degradedReason ?? this.#options.guard.reason;
  }

  // What the supervisor has to know at once.
  #describe(): string {
    const ids = this.#origin.generation?.rankings.map(({ id }) => id);
    return `${ids} ${this.#degradedReason}`;
  }
}
