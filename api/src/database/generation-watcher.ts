import { statSync } from "node:fs";
import {
  DatabaseFiles,
  DatabaseUnreadable,
  DatabaseUnusable,
  explainSqliteError,
  requireFile,
} from "./database-files.ts";
import { type Generation, Store } from "./store.ts";

const shortestRetryMs = 20; // from a change of files that cannot be read to the next try: a lock may be gone; then doubled
const longestRetryMs = 500;
const reopenTimeoutMs = 50; // requests wait, too; who closes the file has it locked for a moment
const damageMemoryMs = 2000; // how long a read that failed counts: the next one may be of another page

type Degradation = { reason: string; readable: boolean; retryAt: number };

/**
 * Follows the database: which generation is the newest, and whether it can be read. While it cannot, the last
 * good generation is kept and the database tried again. `poll` never throws; call it a few times a second.
 */
export class GenerationWatcher {
  readonly #path: string;
  /** Null only while there is a degradation. */
  #store: Store | null;
  /** As they were when it was opened, and when that was tried last. */
  #files: DatabaseFiles;
  #triedFiles: DatabaseFiles;
  #seen = Number.NaN;
  /** Unix seconds: what is shown changes then, also when nobody writes. */
  #endsAt = Infinity;
  readonly #clock: () => number;
  #newest: Generation | null = null;
  #degradation: Degradation | null = null;
  #damage: { reason: string; until: number } | null = null;
  #now = 0;
  #mustReopen = false;
  #retryMs = shortestRetryMs;

  /** `clock` gives milliseconds since 1970. @throws DatabaseUnusable */
  constructor(path: string, clock = Date.now) {
    this.#clock = clock;
    this.#path = path;
    this.#store = Store.open(path);
    this.#files = new DatabaseFiles(path);
    this.#triedFiles = this.#files;
  }

  /** Why the last good generation is served instead of the newest, or some pages cannot be; null when all is well. */
  get degradedReason(): string | null {
    return this.#degradation?.reason ?? this.#damage?.reason ?? null;
  }

  /**
   * The newest readable generation: the same object for as long as it is that. Null only until there was one: the last
   * one is kept when the database has none any more. `now` is in milliseconds that only grow.
   */
  poll(now: number): Generation | null {
    this.#now = now;
    if (this.#damage !== null && now >= this.#damage.until) this.#damage = null;
    try {
      this.#follow();
    } catch (error) {
      this.#degrade(error, this.#retryMs);
      this.#retryMs = Math.min(longestRetryMs, this.#retryMs * 2);
    }
    return this.#newest;
  }

  /** Reads something; after a failure of SQLite the database is opened anew. @throws DatabaseUnreadable */
  read<T>(action: (store: Store) => T): T {
    const store = this.#store;
    if (store === null || this.#degradation?.readable === false) {
      throw new DatabaseUnreadable(this.#degradation?.reason ?? "The database is closed");
    }
    try {
      return action(store);
    } catch (error) {
      const reason = this.#describe(error);
      this.#remember(reason);
      if (isFromSqlite(error) && !this.#isDamage(error)) this.#degrade(error, longestRetryMs); // it may well be opened
      throw new DatabaseUnreadable(reason, { cause: error });
    }
  }

  /** Opens the database anew at the next `poll`. */
  reopen(): void {
    this.#mustReopen = true;
  }

  close(): void {
    this.#store?.close();
  }

  #follow(): void {
    const files = new DatabaseFiles(this.#path);
    const isRetryDue = this.#degradation !== null && this.#now >= this.#degradation.retryAt;
    if (this.#mustReopen || isRetryDue || !files.isUnchanged(this.#triedFiles)) this.#reopen(files);
    if (this.#store === null || this.#degradation !== null) return;
    const dataVersion = this.#store.dataVersion();
    const now = this.#unixTime();
    if (dataVersion === this.#seen && now < this.#endsAt) return;
    this.#adopt(this.#store.newestGeneration({ at: now }), false);
    this.#seen = dataVersion;
  }

  // A connection does not notice that its files were replaced or overwritten; a new one reads them afresh. The old one
  // is closed first: within a process, SQLite has one -shm for a database, and a new connection would get the old one's.
  #reopen(files: DatabaseFiles): void {
    this.#mustReopen = false; // when it fails it is tried again, but not with every look
    if (!files.isUnchanged(this.#triedFiles)) this.#retryMs = shortestRetryMs;
    this.#triedFiles = files;
    requireFile(this.#path); // before anything is closed: a removed file stays readable through the open connection
    this.#store?.close();
    this.#store = null;
    const store = Store.open(this.#path, reopenTimeoutMs);
    const isOtherFile = files.isReplaced(this.#files);
    try {
      this.#adopt(store.newestGeneration({ at: this.#unixTime() }), isOtherFile);
    } catch (error) {
      store.close();
      throw error;
    }
    if (isOtherFile) this.#damage = null;
    this.#store = store;
    const opened = new DatabaseFiles(this.#path); // opening may have made the -wal and the -shm
    this.#files = opened.isSame(files) ? opened : files; // else it was replaced in between
    this.#triedFiles = this.#files;
    this.#seen = Number.NaN;
    this.#degradation = null;
  }

  #adopt(newest: Generation | null, isOtherFile: boolean): void {
    if (newest === null && this.#newest !== null) {
      throw new DatabaseUnusable(`Cannot serve ${this.#path}: it has no generation any more`);
    }
    this.#endsAt = newest?.endsAt ?? Infinity;
    if (isOtherFile || !isSameGeneration(newest, this.#newest)) this.#newest = newest;
  }

  #unixTime(): number {
    return Math.floor(this.#clock() / 1000);
  }

  // A removed file stays readable through the open connection, whatever is in its place that is no file; after anything
  // else nothing can be trusted.
  #degrade(error: unknown, retryMs: number): void {
    const readable = this.#store !== null && hasNoFile(this.#path);
    this.#degradation = { reason: this.#describe(error), readable, retryAt: this.#now + retryMs };
  }

  // A damaged page in the file that was opened: a new connection would see the same, and the other pages are whole.
  #isDamage(error: unknown): boolean {
    if (!codeOf(error).startsWith("SQLITE_CORRUPT")) return false;
    try {
      return new DatabaseFiles(this.#path).isUnchanged(this.#files);
    } catch {
      return false;
    }
  }

  #describe(error: unknown): string {
    return error instanceof DatabaseUnusable
      ? error.message
      : `Cannot read ${this.#path}: ${explainSqliteError(error)}`;
  }

  // The first reason of several: which page fails depends on who asks.
  #remember(reason: string): void {
    this.#damage = { reason: this.#damage?.reason ?? reason, until: this.#now + damageMemoryMs };
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? "");
}

function isFromSqlite(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_");
}

// Other reasons why there is no file to see (a loop of links, a closed folder) throw.
function hasNoFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() !== true;
  } catch {
    return false;
  }
}

/** Whether nothing of two generations differs. */
function isSameGeneration(left: Generation | null, right: Generation | null): boolean {
  return left === right || (left !== null && right !== null && markOf(left) === markOf(right));
}

function markOf({ oldestId, hiddenVersion, regions }: Generation): string {
  const marks = [...regions].map(([code, { id, oldestId: oldest, publishedAt }]) => [
    code,
    id,
    oldest,
    publishedAt,
  ]);
  return `${oldestId} ${hiddenVersion} ${marks.join(";")}`;
}
