import { tokenMinute } from "@trendvault/contract/token";
import type { Generation } from "../database/generation.ts";
import type { GenerationWatcher } from "../database/generation-watcher.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { Logger } from "../logging/logger.ts";
import type { Builder } from "./builder.ts";
import { Prewarm } from "./prewarm.ts";
import type { ResponseCache } from "./response-cache.ts";
import type { Snapshot } from "./snapshot.ts";

const generationWaitMs = 150; // the longest that a new generation waits for its answers to be built
const minuteLeadMs = 15_000; // before a minute begins, its answers are built
const minutePauseMs = 5; // between two batches of them: no request waits for these
const loadDelayMs = 20; // after a start, the first request comes before the lists are loaded
const prewarmedEntries = 512; // the others are built on request

type SnapshotSchedulerParts = {
  watch: GenerationWatcher;
  cache: ResponseCache;
  builder: Builder;
  lists: ListReader;
  log: Logger;
};

/**
 * Decides which snapshot is served. Before a snapshot begins, the busiest entries are built for it, a little at a time,
 * so that it begins warm: a minute is known beforehand, a generation waits a moment.
 */
export class SnapshotScheduler {
  readonly #parts: SnapshotSchedulerParts;
  #upcoming: { prewarm: Prewarm; deadline: number } | null = null;
  #degradedReason: string | null = null;

  constructor(parts: SnapshotSchedulerParts) {
    this.#parts = parts;
  }

  /** Looks at the database and the clock (`now` in milliseconds). Call it every 50 milliseconds or so. */
  tick(now: number): void {
    const { watch, cache } = this.#parts;
    const generation = watch.poll(now);
    this.#logDegradation();
    const { snapshot } = cache;
    if (generation === null) cache.begin(null);
    else if (snapshot === null) this.#begin({ generation, minute: tokenMinute(now) });
    else if (snapshot.generation !== generation) this.#prepareGeneration(generation, now);
    else this.#prepareMinute(snapshot, now);
  }

  #prepareGeneration(generation: Generation, now: number): void {
    const snapshot = { generation, minute: tokenMinute(now) };
    if (this.#upcoming?.prewarm.snapshot.generation !== generation) {
      this.#prepare(snapshot, { deadline: now + generationWaitMs, pauseMs: 0 });
    }
    if (this.#upcoming !== null && (this.#upcoming.prewarm.isDone || now >= this.#upcoming.deadline)) {
      this.#begin(this.#upcoming.prewarm.snapshot);
    }
  }

  #prepareMinute({ generation, minute }: Snapshot, now: number): void {
    const current = { generation, minute: tokenMinute(now) };
    if (current.minute !== minute) {
      this.#begin(this.#preparedFor(current) ?? current);
    } else if (this.#upcoming === null && tokenMinute(now + minuteLeadMs) !== minute) {
      const next = { generation, minute: minute + 1 };
      this.#prepare(next, { deadline: Number.POSITIVE_INFINITY, pauseMs: minutePauseMs });
    }
  }

  #preparedFor({ generation, minute }: Snapshot): Snapshot | null {
    const snapshot = this.#upcoming?.prewarm.snapshot;
    return snapshot?.generation === generation && snapshot.minute === minute ? snapshot : null;
  }

  #prepare(snapshot: Snapshot, { deadline, pauseMs }: { deadline: number; pauseMs: number }): void {
    this.#upcoming?.prewarm.stop();
    const { cache, builder, log } = this.#parts;
    const onDone = () => pauseMs === 0 && this.#begin(snapshot); // a minute waits for the clock
    const entries = cache.busiest(prewarmedEntries);
    const prewarm = new Prewarm(snapshot, entries, { builder, log, pauseMs, onDone });
    this.#upcoming = { prewarm, deadline };
    prewarm.start();
  }

  #begin(snapshot: Snapshot): void {
    const { cache } = this.#parts;
    const prewarm = this.#upcoming?.prewarm;
    if (prewarm?.snapshot === snapshot) {
      prewarm.promote();
      cache.ageHits();
    } else prewarm?.stop();
    this.#upcoming = null;
    if (cache.snapshot?.generation !== snapshot.generation) this.#load(snapshot.generation);
    cache.begin(snapshot);
  }

  #load(generation: Generation): void {
    const { cache, lists } = this.#parts;
    const steps = lists.load(generation);
    const step = () => {
      if (cache.snapshot?.generation === generation && !steps.next().done) setTimeout(step, 1);
    };
    setTimeout(step, loadDelayMs);
  }

  // After a degradation everything is built anew: some answers may have used older content.
  #logDegradation(): void {
    const { watch, cache, log } = this.#parts;
    const reason = watch.degradedReason;
    if (reason === this.#degradedReason) return;
    this.#degradedReason = reason;
    if (reason !== null) {
      log("warning", "database_unreadable", "The last good generation is served.", { reason });
      return;
    }
    log("info", "database_readable", "The database can be read again.");
    if (cache.snapshot !== null) this.#begin({ ...cache.snapshot });
  }
}
