import { DatabaseUnreadable } from "../database/errors.ts";
import type { Logger } from "../logging/logger.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Builder } from "./builder.ts";
import type { CacheEntry } from "./cache-entry.ts";
import type { Snapshot } from "./snapshot.ts";

const batchSize = 2; // signing waits for a turn of the event loop: two entries share one

/** Builds entries for a snapshot before it begins, in their order, a batch a turn of the event loop. */
export class Prewarm {
  readonly snapshot: Snapshot;
  readonly #entries: readonly CacheEntry[];
  readonly #builder: Builder;
  readonly #log: Logger;
  readonly #pauseMs: number;
  readonly #onDone: () => void;
  #next = 0;
  #isStopped = false;

  /** `pauseMs` is the time between two batches; 0 waits only until the sockets were looked at. */
  constructor(
    snapshot: Snapshot,
    entries: readonly CacheEntry[],
    options: { builder: Builder; log: Logger; pauseMs: number; onDone: () => void },
  ) {
    this.snapshot = snapshot;
    this.#entries = entries;
    this.#builder = options.builder;
    this.#log = options.log;
    this.#pauseMs = options.pauseMs;
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
      this.#giveUp(error);
    }
  }

  // The snapshot begins without the rest, which is built on request.
  #giveUp(error: unknown): void {
    if (error instanceof DatabaseUnreadable) return; // SnapshotScheduler logs that
    this.#log("error", "prewarm_failed", "Cannot build answers ahead; they are built on request.", {
      error: String(error),
    });
  }

  async #build(entry: CacheEntry): Promise<void> {
    const set = await this.#builder.finish(this.#builder.build(entry, this.snapshot, entry.codings));
    if (!(set instanceof Refusal)) entry.prewarm(set); // else the next request for it gets the refusal
  }
}
