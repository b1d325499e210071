import type { Inspection } from "../database/inspector.ts";
import type { WorkerReport } from "./messages.ts";

type Inspector = { kill(): void; exited: Promise<unknown> };

const silentAfterMs = 4000; // looks come every second
const behindAfterMs = 2000; // a generation is served a quarter of a second after it was published
const restartDelayMs = 1000;
const longestPauseMs = 2000; // of this process, after which it has to hear from the inspector anew
const keptGenerations = 100;

/**
 * Compares what the workers serve with what the file says, which a process of its own reads: whatever keeps a worker
 * from following the database, it shows here. Times are of `performance.now()`.
 */
export class DatabaseWatch {
  readonly #start: (onInspection: (inspection: Inspection) => void) => Inspector;
  #inspector: Inspector | null = null;
  #inspection: Inspection | null = null;
  #heardAt = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** When each generation was the newest last, or was first seen to be served. */
  readonly #excusedAt = new Map<string, number>();

  /** `start` starts the process that inspects. */
  constructor(start: (onInspection: (inspection: Inspection) => void) => Inspector) {
    this.#start = start;
  }

  /** Starts the inspector, and replaces it when it ended or hangs. Call it twice a second. */
  tick(now: number): void {
    if (now - this.#lookedAt > longestPauseMs) this.#heardAt = now;
    this.#lookedAt = now;
    if (this.#inspector !== null && now - this.#heardAt > silentAfterMs * 2) this.restart();
    if (this.#inspector === null) this.#run(now);
  }

  /** Replaces the inspector with the next `tick`. */
  restart(): void {
    this.#inspector?.kill(); // its end is not waited for: while it waits for a disk, it cannot end
    this.#inspector = null;
  }

  /** Whether a worker serves another generation than the newest for longer than it needs to follow, and does not say so. */
  isBehind({ generation, degradedReason }: WorkerReport, now: number): boolean {
    const newest = this.#inspection?.newest ?? null;
    if (newest === null || degradedReason !== null || this.#isSilent(now)) return false;
    const served = describe(generation);
    if (served === describe(newest)) return false;
    const excusedAt = this.#excusedAt.get(served) ?? now;
    this.#excuse(served, excusedAt);
    return now - excusedAt > behindAfterMs;
  }

  /** Sentences about the database, and about workers that do not follow it. */
  describe(reports: readonly WorkerReport[], now: number): string[] {
    const reasons = reports
      .filter((report) => this.isBehind(report, now))
      .map(({ generation }) => {
        const served = generation === null ? "no generation" : `generation ${generation.id}`;
        return `A worker serves ${served}; the newest in the database is ${this.#inspection?.newest?.id}`;
      });
    if (this.#inspection?.reason) reasons.push(this.#inspection.reason);
    if (this.#isSilent(now)) reasons.push("The check of the database does not end; the disk may hang");
    return reasons;
  }

  #isSilent(now: number): boolean {
    return this.#inspector !== null && now - this.#heardAt > silentAfterMs;
  }

  #run(now: number): void {
    this.#heardAt = now;
    const inspector = this.#start((inspection) => {
      if (this.#inspector === inspector) this.#take(inspection);
    });
    this.#inspector = inspector;
    void inspector.exited.then(async () => {
      await Bun.sleep(restartDelayMs);
      if (this.#inspector === inspector) this.#inspector = null;
    });
  }

  #take(inspection: Inspection): void {
    this.#heardAt = performance.now();
    this.#inspection = inspection;
    if (inspection.newest !== null) this.#excuse(describe(inspection.newest), this.#heardAt);
  }

  #excuse(generation: string, at: number): void {
    this.#excusedAt.delete(generation);
    this.#excusedAt.set(generation, at);
    if (this.#excusedAt.size <= keptGenerations) return;
    for (const oldest of this.#excusedAt.keys()) {
      this.#excusedAt.delete(oldest);
      return;
    }
  }
}

function describe(generation: WorkerReport["generation"]): string {
  return generation === null ? "none" : `${generation.id} ${generation.publishedAt}`;
}
