import { tokenMinute } from "@trendvault/contract/token";
import type { Generation } from "../database/generation.ts";
import type { GenerationWatcher } from "../database/generation-watcher.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { Logger } from "../logging/logger.ts";
import type { Builder } from "./builder.ts";
import { GenerationLoading } from "./generation-loading.ts";
import { Prewarm } from "./prewarm.ts";
import type { ResponseCache } from "./response-cache.ts";
import type { Snapshot } from "./snapshot.ts";

const generationWaitMs = 150; // the longest that a new generation waits for its answers to be built
const minuteLeadMs = 15_000; // before a minute begins, its answers are built
const minutePauseMs = 5; // between two batches of them: no request waits for these
const loadDelayMs = 20; // after a start, the first request comes before the lists are loaded
const loadPauseMs = 1; // between two lists then
const shortestRetryMs = 250; // until a generation that cannot be served is tried again; doubled with every time
const longestRetryMs = 4000;
const prewarmedEntries = 512; // the others are built on request

type SnapshotSchedulerParts = {
  watcher: GenerationWatcher;
  cache: ResponseCache;
  builder: Builder;
  lists: ListReader;
  log: Logger;
};

/** A generation that could not be read as a whole. */
type Rejection = { generation: Generation; reason: string; retryMs: number; retryAt: number };

/**
 * Decides which snapshot is served. A generation is read before it is served: one that is torn or damaged leaves the
 * one before in its place. Before a snapshot begins, the busiest entries are built for it, a little at a time, so that
 * it begins warm: a minute is known beforehand, a generation waits a moment.
 */
export class SnapshotScheduler {
  readonly #parts: SnapshotSchedulerParts;
  #loading: GenerationLoading | null = null;
  #rejection: Rejection | null = null;
  /** The generation that is to be served next, and when it was seen first. */
  #seen: { generation: Generation; at: number } | null = null;
  #upcoming: { prewarm: Prewarm; deadline: number } | null = null;
  #loggedReason: string | null = null;
  #now = 0;
  /** Milliseconds that only grow: a clock that is set back must not put off what is tried again. */
  #elapsed = 0;

  constructor(parts: SnapshotSchedulerParts) {
    this.#parts = parts;
  }

  /** Why an older generation is served than the newest, or some pages cannot be; null when all is well. */
  get degradedReason(): string | null {
    return this.#rejection?.reason ?? this.#parts.watcher.degradedReason;
  }

  /** Looks at the database and the clock (`now` in milliseconds). Call it every 50 milliseconds or so. */
  tick(now: number): void {
    this.#elapsed += Math.max(0, now - this.#now);
    this.#now = now;
    const { watcher, cache } = this.#parts;
    const generation = watcher.poll(this.#elapsed);
    this.#logDegradation();
    const { snapshot } = cache;
    if (generation === null) return; // nothing was published yet
    if (snapshot === null) this.#begin({ generation, minute: tokenMinute(now) });
    else if (snapshot.generation !== generation && !this.#isPutOff(generation))
      this.#prepareGeneration(generation);
    else this.#prepareMinute(snapshot, now);
    this.#retryServed();
  }

  // There may be no other generation than one that was rejected.
  #retryServed(): void {
    const generation = this.#parts.cache.snapshot?.generation;
    if (generation === undefined || this.#rejection?.generation !== generation) return;
    if (this.#loading === null && !this.#isPutOff(generation)) this.#loadServed(generation);
  }

  #isPutOff(generation: Generation): boolean {
    return this.#rejection?.generation === generation && this.#elapsed < this.#rejection.retryAt;
  }

  #prepareGeneration(generation: Generation): void {
    if (this.#seen?.generation !== generation) this.#seen = { generation, at: this.#elapsed };
    const upcoming = this.#upcoming;
    if (upcoming?.prewarm.snapshot.generation === generation) {
      if (upcoming.prewarm.isDone || this.#elapsed >= upcoming.deadline)
        this.#begin(upcoming.prewarm.snapshot);
    } else if (this.#parts.lists.isLoaded(generation)) {
      const deadline = this.#seen.at + generationWaitMs;
      this.#prepare({ generation, minute: tokenMinute(this.#now) }, { deadline, pauseMs: 0 });
    } else if (this.#loading?.generation !== generation) this.#loadAhead(generation);
  }

  #loadAhead(generation: Generation): void {
    const onLoaded = () => {
      this.#rejection = null;
      this.#prepareGeneration(generation);
    };
    this.#load(generation, { delayMs: 0, pauseMs: 0, onLoaded });
  }

  // After a start there is nothing else to serve: the first answers do not wait for all lists.
  #loadServed(generation: Generation): void {
    const onLoaded = () => {
      if (this.#rejection?.generation === generation) this.#rejection = null;
      this.#parts.builder.prepare();
    };
    this.#load(generation, { delayMs: loadDelayMs, pauseMs: loadPauseMs, onLoaded });
  }

  #load(generation: Generation, options: { delayMs: number; pauseMs: number; onLoaded: () => void }): void {
    this.#loading?.stop();
    const onFailed = (error: unknown) => this.#reject(generation, error);
    const steps = this.#parts.lists.load(generation);
    this.#loading = new GenerationLoading(generation, steps, { ...options, onFailed });
    this.#loading.start(options.delayMs);
  }

  #reject(generation: Generation, error: unknown): void {
    this.#loading = null;
    const isServed = this.#parts.cache.snapshot?.generation === generation;
    if (!isServed && this.#seen?.generation !== generation) return; // another one has taken its place meanwhile
    const last = this.#rejection;
    if (last === null || last.generation === generation || !isServed) {
      const again = last?.generation === generation ? last.retryMs * 2 : shortestRetryMs;
      const retryMs = Math.min(longestRetryMs, again);
      const reason = `Generation ${generation.id} is damaged: ${(error as Error).message}`;
      this.#rejection = { generation, reason, retryMs, retryAt: this.#elapsed + retryMs };
    }
    if (isServed) this.#fallBack(generation);
  }

  // After a start the newest one is served unread. What is rejected on the way to an older one is not the reason.
  #fallBack(generation: Generation): void {
    try {
      const older = this.#parts.lists.readGenerationBefore(generation);
      if (older !== null) this.#begin({ generation: older, minute: tokenMinute(this.#now) });
    } catch {
      // It stays; the reason is known.
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
    const { cache, lists } = this.#parts;
    const prewarm = this.#upcoming?.prewarm;
    if (prewarm?.snapshot === snapshot) {
      prewarm.promote();
      cache.ageHits();
    } else prewarm?.stop();
    this.#upcoming = null;
    cache.begin(snapshot);
    const { generation } = snapshot;
    if (!lists.isLoaded(generation) && this.#loading?.generation !== generation) this.#loadServed(generation);
  }

  // After a degradation everything is built anew: some answers may have used older content.
  #logDegradation(): void {
    const { cache, log } = this.#parts;
    const reason = this.degradedReason;
    if (reason === this.#loggedReason) return;
    this.#loggedReason = reason;
    if (reason !== null) {
      log("warning", "database_unreadable", "The last good generation is served.", { reason });
      return;
    }
    log("info", "database_readable", "The database can be read again.");
    if (cache.snapshot !== null) this.#begin({ ...cache.snapshot });
  }
}
