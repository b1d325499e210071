import type { GenerationMark, Inspection } from "../database/inspector.ts";
import type { WorkerReport } from "./messages.ts";

/** The process that looks at the database. */
type InspectorProcess = { kill(): void; exited: Promise<unknown> };

type WatchOptions = {
  /** Starts the process that inspects. */
  start: (onInspection: (inspection: Inspection) => void) => InspectorProcess;
  /** What the files of the database are, as `describeContent` says it. */
  describeFiles: () => Promise<string>;
  clock?: () => number;
};

const lateAfterMs = 3500; // looks come every second, the first one when the process has started
const replaceAfterMs = 4500;
const behindAfterMs = 2000; // a generation is served a quarter of a second after it was published
const restartDelayMs = 1000;
const longestPauseMs = 2000; // of this process, after which it has to hear from the inspector anew
const lingerMs = 5000; // the commits of one run of the writer follow each other
const readAgainAfterMs = 300_000; // for what only the disk has changed
const keptGenerations = 100;

/**
 * Compares what the workers serve with what the file says, which a process of its own reads: whatever keeps a worker
 * from following the database, it shows here. That process, the inspector, runs only while there is something to read:
 * after a write, while a part is damaged or a worker serves another generation, and every five minutes. Times are of
 * `performance.now()`.
 */
export class DatabaseWatch {
  readonly #start: WatchOptions["start"];
  readonly #describeFiles: () => Promise<string>;
  readonly #clock: () => number;
  #inspector: InspectorProcess | null = null;
  #startedAt = 0;
  #isKilled = false;
  #inspection: Inspection | null = null;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Since when each look found all of the files read; null while they are not. */
  #wholeSince: number | null = null;
  #inspectedAt = 0;
  /** Whether a worker served something else than the newest since the last look. */
  #isDoubted = false;
  #isDescribing = false;
  #listeningSince = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** When each generation was the newest last, or was first seen to be served. */
  readonly #excusedAt = new Map<string, number>();

  constructor({ start, describeFiles, clock = () => performance.now() }: WatchOptions) {
    this.#start = start;
    this.#describeFiles = describeFiles;
    this.#clock = clock;
  }

  /** Starts the inspector when it is needed, and replaces it when it ended or hangs. Call it twice a second. */
  tick(now: number): void {
    if (now - this.#lookedAt > longestPauseMs) this.#listeningSince = now;
    this.#lookedAt = now;
    if (this.#inspector === null) this.#runIfNeeded(now);
    else if (now - this.#startedAt > replaceAfterMs && this.#silence(now) > replaceAfterMs) this.#end();
  }

  /** Ends the inspector; with a `tick` another one reads all again. */
  restart(): void {
    this.#wholeSince = null;
    this.#end();
  }

  /** Whether a worker serves another generation than the newest for longer than it needs to follow, and does not say so. */
  isBehind({ generation, degradedReason }: WorkerReport, now: number): boolean {
    const newest = this.#newest();
    if (newest === undefined || degradedReason !== null || this.#silence(now) > behindAfterMs) return false;
    const served = describe(generation);
    if (served === describe(newest)) return false;
    this.#isDoubted = true;
    const excusedAt = this.#excusedAt.get(served) ?? now;
    this.#excuse(served, excusedAt);
    return now - Math.max(excusedAt, this.#listeningSince) > behindAfterMs;
  }

  /** Sentences about the database, and about workers that do not follow it. */
  describe(reports: readonly WorkerReport[], now: number): string[] {
    const reasons = reports
      .filter((report) => this.isBehind(report, now))
      .map(({ generation }) => {
        const served = generation === null ? "no generation" : `generation ${idsOf(generation)}`;
        const newest = this.#newest() ?? null;
        const found =
          newest === null
            ? "there is none in the database"
            : `the newest in the database is ${idsOf(newest)}`;
        return `A worker serves ${served}; ${found}`;
      });
    if (this.#inspection?.reason) reasons.push(this.#inspection.reason);
    if (this.#silence(now) > lateAfterMs)
      reasons.push("The check of the database gives no result; its process or the disk may hang");
    return reasons;
  }

  // Null when there is none; undefined when that is not known.
  #newest(): Inspection["newest"] | undefined {
    if (this.#inspection === null) return undefined;
    const { newest, reason } = this.#inspection;
    return newest === null && reason !== null ? undefined : newest;
  }

  // What this process did not hear while it was stopped itself does not count.
  #silence(now: number): number {
    return now - Math.max(this.#heardAt, this.#listeningSince);
  }

  // A tick starts another one when it has ended, and not before: a process that waits for a disk cannot end, and with
  // every new one there would be one more of them.
  #end(): void {
    this.#isKilled = true;
    this.#inspector?.kill();
  }

  #runIfNeeded(now: number): void {
    const isRead = this.#wholeSince !== null && now - this.#inspectedAt < readAgainAfterMs;
    if (!isRead || this.#isDoubted) this.#run(now);
    else if (!this.#isDescribing) void this.#compareFiles();
  }

  // As long as they are what was read, the newest generation is the one that was read. It waits while the disk hangs.
  async #compareFiles(): Promise<void> {
    this.#isDescribing = true;
    const files = await this.#describeFiles();
    this.#isDescribing = false;
    if (files !== this.#inspection?.whole) this.#wholeSince = null;
    else if (this.#inspector === null) this.#hear();
  }

  #run(now: number): void {
    const inspector = this.#start((inspection) => {
      if (this.#inspector === inspector) this.#take(inspection);
    });
    this.#inspector = inspector;
    this.#startedAt = now;
    this.#isKilled = false;
    this.#wholeSince = null;
    void inspector.exited.then(async () => {
      if (!this.#isKilled) await Bun.sleep(restartDelayMs);
      this.#inspector = null;
    });
  }

  #take(inspection: Inspection): void {
    this.#inspection = inspection;
    this.#hear();
    const { whole } = inspection;
    if (whole === null || this.#isDoubted) this.#wholeSince = null;
    else this.#wholeSince ??= this.#heardAt;
    this.#isDoubted = false;
    this.#inspectedAt = this.#heardAt;
    if (this.#wholeSince !== null && this.#heardAt - this.#wholeSince >= lingerMs) this.#end();
  }

  #hear(): void {
    const newest = this.#newest();
    this.#heardAt = this.#clock();
    if (newest !== undefined) this.#excuse(describe(newest), this.#heardAt);
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
    // What takes its time is SQLite: without the compilers it has 4 MB less.
    env: { BUN_JSC_useJIT: "0", REGIONS_TABLE: regions },
    ipc: onInspection,
  });
  return { exited: child.exited, kill: () => child.kill("SIGKILL") };
}

function describe(generation: WorkerReport["generation"]): string {
  if (generation === null) return "none";
  return generation.rankings.map(({ id, publishedAt }) => `${id} ${publishedAt}`).join();
}

// Several, where writers share the regions.
function idsOf(generation: GenerationMark): string {
  return generation.rankings.map(({ id }) => id).join(" and ");
}
