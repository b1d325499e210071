import { DatabaseUnreadable } from "../database/errors.ts";
import type { Logger } from "../logging/logger.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Builder } from "./builder.ts";
import type { CacheEntry } from "./cache-entry.ts";
import type { Snapshot } from "./snapshot.ts";

const batchSize = 2; // signing waits for a turn of the event loop: two entries share one

type PrewarmOptions = {
  builder: Builder;
  log: Logger;
  /** The time between two batches; 0 waits only until the sockets were looked at. */
  pauseMs: number;
  /** Whether an entry serves what was built for it at once, or with `promote`. */
  promotesAtOnce: boolean;
  /** Called when everything is built, or nothing more can be. */
  onDone: () => void;
};

/** Builds entries for a snapshot, in their order, a batch a time. */
export class Prewarm {
  readonly snapshot: Snapshot;
  readonly #entries: readonly CacheEntry[];
  readonly #builder: Builder;
  readonly #log: Logger;
  readonly #pauseMs: number;
  readonly #promotesAtOnce: boolean;
  readonly #onDone: () => void;
  #next = 0;
  #isStopped = false;

  constructor(snapshot: Snapshot, entries: readonly CacheEntry[], options: PrewarmOptions) {
    this.snapshot = snapshot;
    this.#entries = entries;
    this.#builder = options.builder;
    this.#log = options.log;
    this.#pauseMs = options.pauseMs;
    this.#promotesAtOnce = options.promotesAtOnce;
    this.#onDone = options.onDone;
  }

  start(): void {
    this.#continue();
  }

  get isDone(): boolean {
    return this.#next >= this.#entries.length;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Lets the entries serve what was built. Call it as the snapshot begins. */
  promote(): void {
    this.stop();
    for (const entry of this.#entries) entry.promote(this.snapshot);
  }

  #continue(): void {
    if (this.#isStopped) return;
    if (this.isDone) this.#onDone();
    else if (this.#pauseMs === 0) setImmediate(() => this.#step());
    else setTimeout(() => this.#step(), this.#pauseMs);
  }

  async #step(): Promise<void> {
    const entries = this.#entries.slice(this.#next, this.#next + batchSize);
    if (this.#isStopped) return;
    try {
      await Promise.all(entries.map((entry) => this.#build(entry)));
      this.#next += entries.length;
      this.#continue();
    } catch (error) {
      this.#logFailure(error);
      this.#onDone();
    }
  }

  // The rest is built on request.
  #logFailure(error: unknown): void {
    if (error instanceof DatabaseUnreadable) return; // SnapshotScheduler logs that
    this.#log("error", "prewarm_failed", "Cannot build answers ahead; they are built on request.", {
      error: String(error),
    });
  }

  async #build(entry: CacheEntry): Promise<void> {
    const options = { codings: entry.codings, compression: "small" } as const;
    const set = await this.#builder.finish(this.#builder.build(entry, this.snapshot, options));
    if (set instanceof Refusal || this.#isStopped) return; // the next request for it gets the refusal
    entry.prewarm(set);
    if (this.#promotesAtOnce) entry.promote(this.snapshot);
  }
}
