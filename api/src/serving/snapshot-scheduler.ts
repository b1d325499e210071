import { tokenMinute } from "@trendvault/contract/token";
import { DatabaseUnreadable, RankingUnreadable } from "../database/database-files.ts";
import type { GenerationWatcher } from "../database/generation-watcher.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { Generation } from "../database/store.ts";
import type { Logger } from "../log.ts";
import { Refusal } from "../resources/resource.ts";
import type { Builder, CacheEntry, Snapshot } from "./builder.ts";
import type { ResponseCache } from "./response-cache.ts";

const longestReplacementMs = 2000; // the longest that an answer is served of the snapshot before
const minuteLeadMs = 15_000; // before a minute begins, its answers are built
const minutePauseMs = 5; // between two batches of them: no request waits for these
const loadDelayMs = 20; // after a start, the first request comes before the lists are loaded
const loadPauseMs = 1; // between two lists then
const shortestRetryMs = 250; // until a generation that cannot be served is tried again; doubled with every time
const longestRetryMs = 4000;
const prewarmedEntries = 512; // the others are built on request
const keptMinutes = 2; // of what is not requested any more: an edge asks again for what it keeps for two
const collectedBytes = 1_000_000; // so much is worth a collection, 10 ms

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
 * one before in its place. The busiest entries are built for a snapshot a little at a time, so that no request waits: for
 * a minute before it begins; for a generation as it begins, and what is not built yet is served as it was before.
 */
export class SnapshotScheduler {
  readonly #parts: SnapshotSchedulerParts;
  #loading: GenerationLoading | null = null;
  #rejection: Rejection | null = null;
  /** The one that is to be served next, or that was last. */
  #awaited: Generation | null = null;
  /** Builds the answers of the next minute, of the generation that is served. */
  #upcoming: Prewarm | null = null;
  /** Builds the answers of a snapshot that is served already. */
  #replacing: { prewarm: Prewarm; until: number } | null = null;
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

  /** Looks at the database and the clock (`now` in milliseconds). Call it every 20 milliseconds or so. */
  tick(now: number): void {
    this.#elapsed += Math.max(0, now - this.#now);
    this.#now = now;
    const { watcher, cache } = this.#parts;
    const generation = watcher.poll(this.#elapsed);
    this.#logDegradation();
    if (this.#replacing !== null && this.#elapsed >= this.#replacing.until) this.#endReplacement();
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
    this.#awaited = generation;
    if (this.#parts.lists.isLoaded(generation)) this.#replace({ generation, minute: tokenMinute(this.#now) });
    else if (this.#loading?.generation !== generation) this.#loadAhead(generation);
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
    };
    this.#load(generation, { delayMs: loadDelayMs, pauseMs: loadPauseMs, onLoaded });
  }

  #load(generation: Generation, options: { delayMs: number; pauseMs: number; onLoaded: () => void }): void {
    this.#loading?.stop();
    const onLoaded = () => {
      if (this.degradedReason === null) this.#parts.lists.releaseMemory(); // else there may be no connection
      options.onLoaded();
    };
    const onFailed = (error: unknown) => this.#reject(generation, error);
    const steps = this.#parts.lists.load(generation);
    this.#loading = new GenerationLoading(generation, steps, { ...options, onLoaded, onFailed });
    this.#loading.start(options.delayMs);
  }

  #reject(generation: Generation, error: unknown): void {
    this.#loading = null;
    const isServed = this.#parts.cache.snapshot?.generation === generation;
    if (!isServed && this.#awaited !== generation) return; // another one has taken its place meanwhile
    const last = this.#rejection;
    if (last === null || last.generation === generation || !isServed) {
      const again = last?.generation === generation ? last.retryMs * 2 : shortestRetryMs;
      const retryMs = Math.min(longestRetryMs, again);
      const id = error instanceof RankingUnreadable ? error.id : generation.id;
      const reason = `Generation ${id} is damaged: ${(error as Error).message}`;
      this.#rejection = { generation, reason, retryMs, retryAt: this.#elapsed + retryMs };
    }
    const older = this.#readOlder(generation, error);
    if (older === null) return;
    // After a start the newest one is served unread. What is rejected on the way to an older one is not the reason.
    if (isServed) this.#begin({ generation: older, minute: tokenMinute(this.#now) });
    else if (this.#hasNews(older)) this.#loadOthers(older);
  }

  #readOlder(generation: Generation, error: unknown): Generation | null {
    const damaged = error instanceof RankingUnreadable ? error.id : generation.id;
    try {
      return this.#parts.lists.readGenerationWithout(generation, damaged);
    } catch {
      return null; // What is served stays; the reason is known.
    }
  }

  // What one writer has published does not wait for what another one has.
  #hasNews({ regions }: Generation): boolean {
    const served = this.#parts.cache.snapshot?.generation.regions;
    return [...regions].some(([code, { id }]) => id > (served?.get(code)?.id ?? 0));
  }

  #loadOthers(generation: Generation): void {
    const onLoaded = () => this.#replace({ generation, minute: tokenMinute(this.#now) });
    this.#load(generation, { delayMs: 0, pauseMs: 0, onLoaded });
  }

  #prepareMinute({ generation, minute }: Snapshot, now: number): void {
    const current = { generation, minute: tokenMinute(now) };
    if (current.minute !== minute) {
      const prepared = this.#upcoming?.snapshot;
      this.#begin(prepared?.minute === current.minute ? prepared : current);
      this.#forget(current.minute - keptMinutes);
    } else if (this.#isQuiet && tokenMinute(now + minuteLeadMs) !== minute) {
      this.#upcoming = this.#prewarm({ generation, minute: minute + 1 }, { pauseMs: minutePauseMs });
      this.#upcoming.start();
    }
  }

  // Not while the database cannot be read: then it may be the last that there is of it. The engine collects a heap that is
  // quiet for ten seconds, and would come too early.
  #forget(minute: number): void {
    if (this.degradedReason !== null) return;
    const { cache, lists } = this.#parts;
    lists.releaseMemory();
    if (cache.forgetBefore(minute) > collectedBytes) Bun.gc(true);
  }

  get #isQuiet(): boolean {
    return this.#upcoming === null && this.#replacing === null;
  }

  #prewarm(
    snapshot: Snapshot,
    { pauseMs, onDone = () => {} }: { pauseMs: number; onDone?: () => void },
  ): Prewarm {
    const { cache, builder, log } = this.#parts;
    const promotesAtOnce = pauseMs === 0; // a minute waits for the clock
    const entries = cache.busiest(prewarmedEntries);
    const prewarm = new Prewarm(snapshot, entries, { builder, log, pauseMs, promotesAtOnce, onDone });
    cache.ageHits();
    return prewarm;
  }

  // Nobody waits: an entry serves the snapshot before until it is built, the busiest first; but nothing is served on that
  // may not be shown any more.
  #replace(snapshot: Snapshot): void {
    const { cache } = this.#parts;
    const { hiddenVersion } = snapshot.generation;
    const keepsReplaced = cache.snapshot?.generation.hiddenVersion === hiddenVersion;
    this.#stopPrewarming();
    cache.begin(snapshot, { keepsReplaced });
    const prewarm = this.#prewarm(snapshot, { pauseMs: 0, onDone: () => this.#endReplacement() });
    this.#replacing = { prewarm, until: this.#elapsed + longestReplacementMs };
    prewarm.start();
  }

  #endReplacement(): void {
    this.#replacing?.prewarm.stop();
    this.#replacing = null;
    this.#parts.cache.endReplacement();
  }

  #stopPrewarming(): void {
    this.#upcoming?.stop();
    this.#upcoming = null;
    this.#endReplacement();
  }

  #begin(snapshot: Snapshot): void {
    const { cache, lists } = this.#parts;
    if (this.#upcoming?.snapshot === snapshot) this.#upcoming.promote();
    this.#stopPrewarming();
    cache.begin(snapshot, { keepsReplaced: false });
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
class Prewarm {
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

type LoadingOptions = {
  /** The time between two steps; 0 waits only until the sockets were looked at. */
  pauseMs: number;
  onLoaded: () => void;
  /** Called with the error that ended it. */
  onFailed: (error: unknown) => void;
};

/** Reads a generation, a step at a time, so that no request waits for more than one. It never throws. */
class GenerationLoading {
  readonly generation: Generation;
  readonly #steps: Iterator<void, void>;
  readonly #options: LoadingOptions;
  #isStopped = false;

  constructor(generation: Generation, steps: Iterator<void, void>, options: LoadingOptions) {
    this.generation = generation;
    this.#steps = steps;
    this.#options = options;
  }

  /** Begins after a delay in milliseconds. */
  start(delayMs: number): void {
    if (delayMs === 0) setImmediate(this.#step);
    else setTimeout(this.#step, delayMs);
  }

  stop(): void {
    this.#isStopped = true;
  }

  readonly #step = (): void => {
    if (this.#isStopped) return;
    try {
      if (this.#steps.next().done) this.#options.onLoaded();
      else this.start(this.#options.pauseMs);
    } catch (error) {
      this.stop();
      this.#options.onFailed(error);
    }
  };
}
