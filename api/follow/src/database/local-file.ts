import { Database } from "bun:sqlite";
import { constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { copyFile, open, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { FollowFailure, localFailure } from "../failure.ts";
import type { Logger } from "../log.ts";
import { newestOfRegions, readContents, readGenerations } from "./contents.ts";
import { findExpired, type KeptGeneration } from "./expired.ts";
import type { Accepted, Memory, Removals } from "./memory.ts";
import { type Addition, deleteGenerations, merge } from "./merge.ts";
import { writeRemovals } from "./removals.ts";

/** Generations of one store that go into the file together. */
export type NewGenerations = {
  store: string;
  /** The store's newest pointer, with its removals, or null when these only fill gaps. */
  newest: { accepted: Accepted; removals: Removals } | null;
  files: { path: string; generation: number }[];
};

type Options = { stores: readonly string[]; retentionSeconds: number; memory: Memory; log: Logger };

/**
 * The file that the origin reads. It is never written to: each change is made in a copy beside it, which is then renamed
 * over it, so that whoever opens it finds a whole one, whatever ends this process.
 */
export class LocalFile {
  readonly path: string;
  /** Where copies and downloads are made. What an earlier process left there is deleted. */
  readonly workFolder: string;
  readonly #options: Options;
  #generations: KeptGeneration[] | null = null;
  /** A copy of the file as it is, made while nothing else is to do, or null when that failed. */
  #spare: Promise<string | null> = Promise.resolve(null);
  #queue: Promise<unknown> = Promise.resolve();

  /** @throws FollowFailure when nothing can be written there */
  constructor(path: string, options: Options) {
    this.path = resolve(path);
    this.workFolder = `${this.path}.work`;
    this.#options = options;
    refuseForeign(this.path);
    try {
      rmSync(this.workFolder, { recursive: true, force: true });
      mkdirSync(this.workFolder, { mode: 0o750 });
    } catch (error) {
      throw localFailure(error, this.workFolder);
    }
    this.#check();
  }

  /** Reads all of the file: what the disk has damaged must not be copied on. The next generation begins it anew then. */
  async check(): Promise<void> {
    this.#queue = this.#queue.then(() => this.#check());
    await this.#queue;
  }

  has(generation: number): boolean {
    return this.#generations?.some(({ id }) => id === generation) ?? false;
  }

  /** Adds generations and drops those that have expired. One call works at a time. @throws FollowFailure */
  add(added: NewGenerations): Promise<void> {
    const done = this.#queue.then(() => this.#add(added));
    this.#queue = done.catch(() => {});
    return done;
  }

  /** Ends when no copy is being made any more, and deletes what is left of them. */
  async close(): Promise<void> {
    await this.#queue;
    await this.#spare;
    rmSync(this.workFolder, { recursive: true, force: true });
  }

  #check(): void {
    const contents = readContents(this.path, { isChecked: true });
    this.#generations = contents.generations;
    if (contents.generations !== null) return;
    const message = `Nothing is taken over from ${this.path}: ${contents.reason}.`;
    this.#options.log("info", "begun_anew", message, { database: this.path });
  }

  async #add(added: NewGenerations): Promise<void> {
    const next = join(this.workFolder, "next.db");
    try {
      await this.#copyBase(added, next);
      const generations = this.#change(next, added);
      this.#refuseBackwards(generations);
      await synchronize(next);
      this.#remember(added, generations);
      await rename(next, this.path);
      this.#generations = generations;
      await synchronize(dirname(this.path));
      this.#spare = this.#copyAhead();
    } catch (error) {
      throw localFailure(error, this.path);
    } finally {
      rmSync(next, { force: true });
    }
  }

  async #copyBase({ files }: NewGenerations, next: string): Promise<void> {
    const spare = await this.#spare;
    this.#spare = Promise.resolve(null);
    if (spare !== null && this.#generations !== null) return rename(spare, next);
    const base = this.#generations === null ? files.at(-1)?.path : this.path;
    if (base === undefined) throw new Error("there is no generation to begin with");
    await copyFile(base, next, constants.COPYFILE_FICLONE);
  }

  // Copying the file, and above all getting it to the disk, takes most of the time, once it has hundreds of megabytes.
  // The next generation need not wait for that. A file system that can, shares the blocks of both files.
  async #copyAhead(): Promise<string | null> {
    const spare = join(this.workFolder, "spare.db");
    try {
      await copyFile(this.path, spare, constants.COPYFILE_FICLONE);
      await synchronize(spare);
      return spare;
    } catch {
      rmSync(spare, { force: true });
      return null; // the next generation makes its copy itself, and says what fails
    }
  }

  /** Makes the copy what the file is to be. Nobody else has it open, and a half-made one is deleted. */
  #change(next: string, added: NewGenerations): KeptGeneration[] {
    const database = new Database(next, { readwrite: true, strict: true });
    try {
      for (const pragma of ["synchronous = OFF", "journal_mode = MEMORY", "foreign_keys = OFF"])
        database.run(`PRAGMA ${pragma}`);
      for (const addition of this.#additions(added)) merge(database, addition);
      this.#writeRemovals(database, added);
      const { retentionSeconds } = this.#options;
      const dropped = [
        ...findExpired(readGenerations(database), { retentionSeconds }),
        ...this.#unfollowed(database),
      ];
      database.transaction(() => deleteGenerations(database, dropped))();
      return readGenerations(database);
    } finally {
      database.close();
    }
  }

  #additions({ store, newest, files }: NewGenerations): Addition[] {
    const { memory, stores } = this.#options;
    const publishedAt = newest?.accepted.pointer.published_at ?? "";
    const fresherGenerations = stores.flatMap((other) => {
      const pointer = other === store ? undefined : memory.accepted(other)?.pointer;
      return pointer !== undefined && pointer.published_at > publishedAt ? [pointer.generation] : [];
    });
    for (const { generation } of files) this.#refuseOverlap(store, generation);
    return files.map(({ path, generation }) => {
      const isNewest = generation === newest?.accepted.pointer.generation;
      return { path, generation, isNewest, fresherGenerations };
    });
  }

  #refuseOverlap(store: string, generation: number): void {
    const owner = this.#options.memory.storeOf(generation);
    if (owner === null || owner === store || !this.#options.stores.includes(owner)) return;
    throw new FollowFailure(
      "overlap",
      `${store} has generation ${generation}, which ${owner} has, too: expected numbers of its own. Have two writers the same REGIONS, or none?`,
    );
  }

  // While a store was not read since the memory was lost, its removals are only in the file.
  #writeRemovals(database: Database, { store, newest }: NewGenerations): void {
    if (newest === null) return;
    const { memory, stores } = this.#options;
    const others = stores.filter((other) => other !== store);
    const alsoKept = this.#generations !== null && others.some((other) => memory.accepted(other) === null);
    const all = [newest.removals, ...others.map((other) => memory.removals(other))];
    writeRemovals(database, all, { alsoKept });
  }

  /** Generations of stores that are not followed any more. */
  #unfollowed(database: Database): number[] {
    const { memory, stores } = this.#options;
    return readGenerations(database)
      .map(({ id }) => id)
      .filter((id) => !stores.includes(memory.storeOf(id) ?? stores[0] ?? ""));
  }

  #refuseBackwards(generations: readonly KeptGeneration[]): void {
    const newest = newestOfRegions(generations);
    for (const [region, before] of newestOfRegions(this.#generations ?? [])) {
      const after = newest.get(region);
      if (after === undefined || after >= before) continue;
      throw new FollowFailure(
        "older",
        `${this.path} has generation ${before} of ${region}, and would have ${after}: is it another store's? Move it and its .follow file away to begin anew.`,
      );
    }
  }

  #remember({ store, newest, files }: NewGenerations, generations: readonly KeptGeneration[]): void {
    const { memory, stores } = this.#options;
    if (newest !== null) memory.accept(store, newest.accepted, newest.removals);
    memory.attribute(
      store,
      files.map(({ generation }) => generation),
    );
    memory.keepOnly(
      generations.map(({ id }) => id),
      stores,
    );
  }
}

// Renaming over a database that somebody writes would lose it, and SQLite would take these files for the new one's.
function refuseForeign(path: string): void {
  const found = ["-wal", "-shm", "-journal"].map((ending) => path + ending).find(existsSync);
  if (found === undefined) return;
  throw new FollowFailure(
    "not_written",
    `There is ${found}, so that somebody writes ${path}: expected a file of the follower's own. If it is left over, delete it.`,
  );
}

/** Writes what the system still holds of a file or a folder to the disk. */
async function synchronize(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
