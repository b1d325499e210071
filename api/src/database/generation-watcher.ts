import { statSync } from "node:fs";
import { DatabaseUnreadable, DatabaseUnusable, explainSqliteError } from "./errors.ts";
import type { Generation } from "./generation.ts";
import { Store } from "./store.ts";

const retryIntervalMs = 500; // between two attempts while the database cannot be read

/**
 * Follows the database: which generation is the newest, and whether it can be read. While it cannot, the last
 * good generation is kept and the database tried again. `poll` never throws; call it a few times a second.
 */
export class GenerationWatcher {
  readonly #path: string;
  #store: Store;
  #files: DatabaseFiles;
  #seen = Number.NaN;
  #newest: Generation | null = null;
  #degradation: { reason: string; readable: boolean; retryAt: number } | null = null;

  /** @throws DatabaseUnusable */
  constructor(path: string) {
    this.#path = path;
    this.#store = Store.open(path);
    this.#files = describeFiles(path);
  }

  /** Why the last good generation is served instead of the newest; null while the newest is. */
  get degradedReason(): string | null {
    return this.#degradation?.reason ?? null;
  }

  /** The newest readable generation: the same object for as long as it is that. `now` is in milliseconds. */
  poll(now: number): Generation | null {
    try {
      this.#follow(now);
    } catch (error) {
      this.#degrade(error, now);
    }
    return this.#newest;
  }

  /** Reads something; after a failure the database is opened anew. @throws DatabaseUnreadable */
  read<T>(action: (store: Store) => T): T {
    if (this.#degradation?.readable === false) throw new DatabaseUnreadable(this.#degradation.reason);
    try {
      return action(this.#store);
    } catch (error) {
      this.#degrade(error, 0);
      throw new DatabaseUnreadable(explainSqliteError(error), { cause: error });
    }
  }

  close(): void {
    this.#store.close();
  }

  #follow(now: number): void {
    const files = describeFiles(this.#path);
    const hasChanged = !isSameDatabase(files, this.#files);
    if (hasChanged || (this.#degradation !== null && now >= this.#degradation.retryAt)) this.#reopen(files);
    if (this.#degradation !== null) return;
    const dataVersion = this.#store.dataVersion();
    if (dataVersion === this.#seen) return;
    this.#adopt(this.#store.newestGeneration());
    this.#seen = dataVersion;
  }

  // A connection does not notice that its files were replaced or overwritten; a new one reads them afresh.
  #reopen(files: DatabaseFiles): void {
    const busyTimeoutMs = 0; // requests would wait, too
    const store = Store.open(this.#path, busyTimeoutMs);
    try {
      const newest = store.newestGeneration();
      if (files.inode !== this.#files.inode) this.#newest = null;
      this.#adopt(newest);
    } catch (error) {
      store.close();
      throw error;
    }
    this.#store.close();
    this.#store = store;
    this.#files = describeFiles(this.#path); // opening may have made the -wal
    this.#seen = Number.NaN;
    this.#degradation = null;
  }

  #adopt(newest: Generation | null): void {
    const members = ["id", "oldestId", "publishedAt"] as const;
    const same = members.every((member) => newest?.[member] === this.#newest?.[member]);
    if (!same) this.#newest = newest;
  }

  // A removed file stays readable through the open connection; after anything else nothing can be trusted.
  #degrade(error: unknown, now: number): void {
    const readable = isRemoved(this.#path);
    const reason =
      error instanceof DatabaseUnusable
        ? error.message
        : `Cannot read ${this.#path}: ${explainSqliteError(error)}`;
    this.#degradation = { reason, readable, retryAt: now + retryIntervalMs };
  }
}

// Other reasons why there is no file to see (a loop of links, a closed folder) throw.
function isRemoved(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

type DatabaseFiles = { inode: string; state: string };

// The main file changes when the writer checkpoints; the -wal keeps its inode for as long as we have it open.
function describeFiles(path: string): DatabaseFiles {
  const main = statSync(path, { throwIfNoEntry: false });
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  return { inode: `${main?.dev}:${main?.ino}`, state: `${main?.size}:${main?.mtimeMs}:${wal?.ino}` };
}

function isSameDatabase(left: DatabaseFiles, right: DatabaseFiles): boolean {
  return left.inode === right.inode && left.state === right.state;
}
