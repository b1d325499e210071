import { statSync } from "node:fs";
import { DatabaseUnreadable, explain, StoreUnusable } from "./fault.ts";
import type { Generation } from "./generation.ts";
import { Store } from "./store.ts";

const retryAfter = 500; // milliseconds between attempts while the database is in trouble

/**
 * Follows the database: which generation is the newest, and whether it can be read. In trouble it keeps the
 * last good generation and tries again. `look` never throws; call it a few times a second.
 */
export class GenerationWatch {
  readonly #path: string;
  #store: Store;
  #files: DatabaseFiles;
  #seen = Number.NaN;
  #newest: Generation | null = null;
  #trouble: { reason: string; readable: boolean; retryAt: number } | null = null;

  /** Throws StoreUnusable. */
  constructor(path: string) {
    this.#path = path;
    this.#store = Store.open(path);
    this.#files = describeFiles(path);
  }

  /** Why the last good generation is served instead of the newest; null when all is well. */
  get trouble(): string | null {
    return this.#trouble?.reason ?? null;
  }

  /** The newest readable generation: the same object for as long as it is that. `now` is in milliseconds. */
  look(now: number): Generation | null {
    try {
      this.#follow(now);
    } catch (error) {
      this.#remember(error, now);
    }
    return this.#newest;
  }

  /** Reads something. Throws DatabaseUnreadable, and then looks at the database anew. */
  read<T>(action: (store: Store) => T): T {
    if (this.#trouble?.readable === false) throw new DatabaseUnreadable(this.#trouble.reason);
    try {
      return action(this.#store);
    } catch (error) {
      this.#remember(error, 0);
      throw new DatabaseUnreadable(explain(error), { cause: error });
    }
  }

  close(): void {
    this.#store.close();
  }

  #follow(now: number): void {
    const files = describeFiles(this.#path);
    const changed = !isSameDatabase(files, this.#files);
    if (changed || (this.#trouble !== null && now >= this.#trouble.retryAt)) this.#reopen(files);
    if (this.#trouble !== null) return;
    const dataVersion = this.#store.dataVersion();
    if (dataVersion === this.#seen) return;
    this.#adopt(this.#store.newestGeneration());
    this.#seen = dataVersion;
  }

  // A connection does not notice that its files were replaced or overwritten; a new one reads them afresh.
  #reopen(files: DatabaseFiles): void {
    const patience = 0;
    const store = Store.open(this.#path, patience);
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
    this.#trouble = null;
  }

  #adopt(newest: Generation | null): void {
    const same = newest?.id === this.#newest?.id && newest?.publishedAt === this.#newest?.publishedAt;
    if (!same) this.#newest = newest;
  }

  // A removed file stays readable through the open connection; after anything else nothing can be trusted.
  #remember(error: unknown, now: number): void {
    const readable = isRemoved(this.#path);
    const reason =
      error instanceof StoreUnusable ? error.message : `Cannot read ${this.#path}: ${explain(error)}`;
    this.#trouble = { reason, readable, retryAt: now + retryAfter };
  }
}

// Anything else that keeps a file from being looked at (a loop of links, a closed folder) is not that.
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
