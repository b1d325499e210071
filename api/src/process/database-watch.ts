import type { Inspection } from "../database/inspector.ts";
import type { WorkerReport } from "./messages.ts";
import { engineOptions } from "./worker-pool.ts";

/** The process that looks at the database. */
type InspectorProcess = { kill(): void; exited: Promise<unknown> };

const lateAfterMs = 2500; // looks come every second
const replaceAfterMs = 4000;
const behindAfterMs = 2000; // a generation is served a quarter of a second after it was published
const restartDelayMs = 1000;
const longestPauseMs = 2000; // of this process, after which it has to hear from the inspector anew
const keptGenerations = 100;

/**
 * Compares what the workers serve with what the file says, which a process of its own reads: whatever keeps a worker
 * from following the database, it shows here. Times are of `performance.now()`.
 */
export class DatabaseWatch {
  readonly #start: (onInspection: (inspection: Inspection) => void) => InspectorProcess;
  readonly #clock: () => number;
  #inspector: InspectorProcess | null = null;
  #startedAt = 0;
  #isKilled = false;
  #inspection: Inspection | null = null;
  #heardAt = Number.NEGATIVE_INFINITY;
  #listeningSince = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** When each generation was the newest last, or was first seen to be served. */
  readonly #excusedAt = new Map<string, number>();

  /** `start` starts the process that inspects. */
  constructor(
    start: (onInspection: (inspection: Inspection) => void) => InspectorProcess,
    clock: () => number = () => performance.now(),
  ) {
    this.#start = start;
    this.#clock = clock;
  }

  /** Starts the inspector, and replaces it when it ended or hangs. Call it twice a second. */
  tick(now: number): void {
    if (now - this.#lookedAt > longestPauseMs) this.#listeningSince = now;
    this.#lookedAt = now;
    const isOld = now - this.#startedAt > replaceAfterMs;
    if (isOld && this.#silence(now) > replaceAfterMs) this.stop();
    if (this.#inspector === null) this.#run(now);
  }

  /**
   * Ends the inspector; a `tick` starts another one when it has ended, and not before: a process that waits for a disk
   * cannot end, and with every new one there would be one more of them.
   */
  stop(): void {
    this.#isKilled = true;
    this.#inspector?.kill();
  }

  /** Whether a worker serves another generation than the newest for longer than it needs to follow, and does not say so. */
  isBehind({ generation, degradedReason }: WorkerReport, now: number): boolean {
    const newest = this.#inspection?.newest ?? null;
    if (newest === null || degradedReason !== null || this.#silence(now) > behindAfterMs) return false;
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
        const served = generation === null ? "no generation" : `generation ${idsOf(generation)}`;
        return `A worker serves ${served}; the newest in the database is ${idsOf(this.#inspection?.newest)}`;
      });
    if (this.#inspection?.reason) reasons.push(this.#inspection.reason);
    if (this.#silence(now) > lateAfterMs)
      reasons.push("The check of the database gives no result; its process or the disk may hang");
    return reasons;
  }

  // What this process did not hear while it was stopped itself does not count.
  #silence(now: number): number {
    return now - Math.max(this.#heardAt, this.#listeningSince);
  }

  #run(now: number): void {
    const inspector = this.#start((inspection) => {
      if (this.#inspector === inspector) this.#take(inspection);
    });
    this.#inspector = inspector;
    this.#startedAt = now;
    this.#isKilled = false;
    void inspector.exited.then(async () => {
      if (!this.#isKilled) await Bun.sleep(restartDelayMs);
      this.#inspector = null;
    });
  }

  #take(inspection: Inspection): void {
    this.#heardAt = this.#clock();
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

/** Starts the process that looks at the database. Of the settings it needs the database's path and the regions, as text. */
export function startInspector(
  { path, regions = "" }: { path: string; regions: string | undefined },
  onInspection: (inspection: Inspection) => void,
): InspectorProcess {
  const command = [process.execPath, "--smol", ...process.execArgv, Bun.main, "inspector", path];
  const child = Bun.spawn(command, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...engineOptions(Bun.version).inspector, REGIONS_TABLE: regions },
    ipc: onInspection,
  });
  return { exited: child.exited, kill: () => child.kill("SIGKILL") };
}

function describe(generation: WorkerReport["generation"]): string {
  if (generation === null) return "none";
  return generation.rankings.map(({ id, publishedAt }) => `${id} ${publishedAt}`).join();
}

// Several, where writers share the regions.
function idsOf(generation: WorkerReport["generation"] | undefined): string | undefined {
  return generation?.rankings.map(({ id }) => id).join(" and ");
}
