import { Database } from "bun:sqlite";
import { constants, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { copyFile, open, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isMountPoint } from "../../src/database/database-files.ts";
import { supportedSchemaVersion } from "../../src/database/schema-version.ts";
import type { Logger } from "../../src/log.ts";
import { FollowFailure, localFailure } from "./failure.ts";
import { readSchemaVersion, requireWhole } from "./generation-file.ts";
import type { Accepted, Memory } from "./memory.ts";

type Removals = ReturnType<Memory["removals"]>;

/** Generations of one store that go into the file together. */
type NewGenerations = {
  store: string;
  /** The store's newest pointer, with its removals, or null when these only fill gaps. */
  newest: { accepted: Accepted; removals: Removals } | null;
  files: { path: string; generation: number }[];
};

type Options = {
  stores: readonly string[];
  retentionSeconds: number;
  memory: Memory;
  log: Logger;
  checkFile?: typeof checkFile;
};

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
  #check: Promise<void> | null = null;
  readonly #closing = new AbortController();

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
    const contents = readContents(this.path);
    this.#generations = contents.generations;
    if (contents.generations === null) this.#beginAnew(contents.reason);
  }

  /**
   * Reads all of the file: what the disk has damaged must not be copied on. The next generation begins it anew then.
   * Following goes on meanwhile; what is copied from a damaged file is damaged, too.
   */
  check(): Promise<void> {
    this.#check ??= this.#checkFile().finally(() => {
      this.#check = null;
    });
    return this.#check;
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
    this.#closing.abort();
    await this.#check;
    await this.#queue;
    await this.#spare;
    rmSync(this.workFolder, { recursive: true, force: true });
  }

  async #checkFile(): Promise<void> {
    const { signal } = this.#closing;
    const state = await (this.#options.checkFile ?? checkFile)(this.path, signal);
    if (signal.aborted || state === "whole") return;
    if (state === "damaged") {
      this.#queue = this.#queue.then(() => this.#beginAnew("it is damaged"));
      await this.#queue;
      return;
    }
    const message = `${this.path} was not checked: the process that reads it was ended. Has it memory?`;
    this.#options.log("warning", "not_checked", message, { database: this.path });
  }

  #beginAnew(reason: string): void {
    this.#generations = null;
    const message = `Nothing is taken over from ${this.path}: ${reason}.`;
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
      const erased = this.#erased(database, added);
      database.transaction(() => deleteGenerations(database, [...dropped, ...erased]))();
      if (erased.length > 0) database.run("VACUUM"); // its bytes would stay in free pages
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
    if (newest !== null) this.#refuseTaken(store, newest.accepted.pointer.generation);
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

  /** A number that a store had which is not followed any more: its generation would go, and this one with it. */
  #refuseTaken(store: string, generation: number): void {
    const owner = this.#options.memory.storeOf(generation) ?? store;
    if (owner === store || !this.has(generation)) return;
    throw new FollowFailure(
      "older",
      `${this.path} has generation ${generation} of ${owner}, not of ${store}. Move it and its .follow file away to begin anew.`,
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

  /** Generations of a store from before something was erased there, as its newest file says: they may name it. */
  #erased(database: Database, { store, newest, files }: NewGenerations): number[] {
    const { memory, stores } = this.#options;
    const { erasedAt } = newest?.removals ?? memory.removals(store);
    const newestId = (newest?.accepted ?? memory.accepted(store))?.pointer.generation;
    if (!erasedAt) return [];
    const isOfStore = (id: number) =>
      files.some(({ generation }) => generation === id) || (memory.storeOf(id) ?? stores[0]) === store;
    return readGenerations(database)
      .filter(({ id, publishedAt }) => publishedAt <= erasedAt && id !== newestId)
      .map(({ id }) => id)
      .filter(isOfStore);
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
  if (isMountPoint(path)) {
    throw new FollowFailure(
      "not_written",
      `${path} itself is a mount point, over which no file can be renamed: mount its folder instead.`,
    );
  }
  // SQLite would wait for a writer of a pipe.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new FollowFailure(
      "not_written",
      `${path} is no file: expected one of the follower's own, or none.`,
    );
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

/** In a process of its own: reading a large file takes seconds. */
async function checkFile(path: string, signal: AbortSignal): Promise<"whole" | "damaged" | "unknown"> {
  const program = `const database = new (require("bun:sqlite").Database)(process.argv.at(-1), { readonly: true });
    process.exitCode = database.query("PRAGMA quick_check(1)").get().quick_check === "ok" ? 0 : 1;`;
  const child = Bun.spawn([process.execPath, "--no-env-file", "--smol", "-e", program, path], {
    stdio: ["ignore", "ignore", "ignore"],
    signal,
  });
  const code = await child.exited; // 1 also where SQLite cannot read it
  return code === 0 ? "whole" : code === 1 ? "damaged" : "unknown";
}

/**
 * The generations in the local file; null when there is no file that new ones can be added to: none at all, one of
 * another version, or a damaged one, for which all of it is read.
 */
function readContents(
  path: string,
): { generations: KeptGeneration[] } | { generations: null; reason: string } {
  if (!existsSync(path)) return { generations: null, reason: "there is no file" };
  let database: Database | null = null;
  try {
    database = new Database(path, { readonly: true, strict: true });
    requireWhole(database);
    if (readSchemaVersion(database) !== supportedSchemaVersion)
      return { generations: null, reason: "its schema has another version" };
    return { generations: readGenerations(database) };
  } catch (error) {
    const reason = error instanceof FollowFailure ? "it is damaged" : (error as Error).message;
    return { generations: null, reason };
  } finally {
    database?.close();
  }
}

function readGenerations(database: Database): KeptGeneration[] {
  const rows = database
    .query<{ id: number; published_at: number; regions: string }, []>(
      `SELECT id, published_at, (SELECT json_group_array(region) FROM generation_regions WHERE generation = id) AS regions
        FROM generations ORDER BY id`,
    )
    .all();
  return rows.map((row) => ({
    id: row.id,
    publishedAt: row.published_at,
    regions: JSON.parse(row.regions),
  }));
}

/** The newest generation of each region. */
function newestOfRegions(generations: readonly KeptGeneration[]): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { id, regions } of generations)
    for (const region of regions) newest.set(region, Math.max(id, newest.get(region) ?? 0));
  return newest;
}

/** A generation in the local file. `publishedAt` is when it was ranked, in Unix seconds. */
type KeptGeneration = { id: number; publishedAt: number; regions: readonly string[] };

/**
 * The generations that need not be kept: the next one of each of its regions was published more than `retentionSeconds`
 * before the newest one of that region. The two newest of a region always stay. Times are compared with each other and
 * never with this machine's clock.
 */
export function findExpired(
  generations: readonly KeptGeneration[],
  { retentionSeconds }: { retentionSeconds: number },
): number[] {
  const byRegion = new Map<string, KeptGeneration[]>();
  const newestFirst = [...generations].sort((left, right) => right.id - left.id);
  for (const generation of newestFirst)
    for (const region of generation.regions)
      byRegion.set(region, [...(byRegion.get(region) ?? []), generation]);
  return newestFirst
    .filter((generation) =>
      generation.regions.every((region) => {
        const kept = byRegion.get(region) ?? [];
        const place = kept.indexOf(generation);
        const [newest, next] = [kept[0], kept[place - 1]];
        if (place < 2 || newest === undefined || next === undefined) return false;
        return next.publishedAt < newest.publishedAt - retentionSeconds;
      }),
    )
    .map(({ id }) => id);
}

/** A generation's file that is put into another one. */
type Addition = {
  path: string;
  generation: number;
  /**
   * Whether it is its store's newest. What it says about videos replaces what is there then, except for videos in
   * `fresherGenerations`: those of other stores that published later. An older one only fills gaps.
   */
  isNewest: boolean;
  fresherGenerations: readonly number[];
};

const generationTables = ["generations", "generation_regions", "trending", "explored_ranks", "explanations"];

/** Puts a generation into the database, in one transaction. */
function merge(database: Database, addition: Addition): void {
  database.run("ATTACH ? AS added", [addition.path]);
  try {
    database.transaction(() => {
      for (const table of generationTables) addGeneration(database, table, addition.generation);
      // Details before the videos: an older generation has some for those only that are new.
      for (const table of ["regions", "details", "videos", "velocity", "hourly_views"])
        upsert(database, table, addition);
    })();
  } finally {
    database.run("DETACH added");
  }
}

/** Deletes generations, and the videos that only they had. */
function deleteGenerations(database: Database, generations: readonly number[]): void {
  if (generations.length === 0) return;
  const gone = JSON.stringify(generations);
  database.run("CREATE TEMP TABLE IF NOT EXISTS gone (video_id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID");
  database.run(
    "INSERT OR IGNORE INTO gone SELECT video_id FROM main.trending WHERE generation IN (SELECT value FROM json_each(?))",
    [gone],
  );
  for (const table of generationTables)
    database.run(`DELETE FROM main.${table} WHERE ${idOf(table)} IN (SELECT value FROM json_each(?))`, [
      gone,
    ]);
  deleteUnlisted(database);
}

// One look is enough for most of them: they are in the newest generation, too.
function deleteUnlisted(database: Database): void {
  database.run(`DELETE FROM gone WHERE EXISTS (SELECT 1 FROM
    (SELECT id FROM main.generations ORDER BY id DESC) AS kept CROSS JOIN main.trending INDEXED BY trending_by_video
    WHERE trending.generation = kept.id AND trending.video_id = gone.video_id)`);
  database.run("DELETE FROM main.details WHERE video_id IN (SELECT video_id FROM gone)");
  database.run("DELETE FROM main.videos WHERE id IN (SELECT video_id FROM gone)");
  for (const table of ["velocity", "hourly_views"])
    database.run(`DELETE FROM main.${table} WHERE (region, video_id) IN
      (SELECT regions.code, gone.video_id FROM main.regions CROSS JOIN gone)`);
  database.run("DELETE FROM gone");
}

function addGeneration(database: Database, table: string, generation: number): void {
  const columns = columnsOf(database, table).map(({ name }) => name);
  database.run(`DELETE FROM main.${table} WHERE ${idOf(table)} = ?`, [generation]);
  database.run(
    `INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM added.${table} WHERE ${idOf(table)} = ?`,
    [generation],
  );
}

/** Rows that are already there as they are cost no write. */
function upsert(database: Database, table: string, { isNewest, fresherGenerations }: Addition): void {
  const columns = columnsOf(database, table);
  const names = columns.map(({ name }) => name);
  const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
  const values = names.filter((name) => !keys.includes(name));
  const isOfVideo = table === "videos" || table === "details";
  const isFresher = (id: string) => `EXISTS (SELECT 1 FROM main.trending AS t INDEXED BY trending_by_video
    WHERE t.generation IN (${fresherGenerations.map(Number)}) AND t.video_id = ${id})`;
  const isWanted = [
    isOfVideo && fresherGenerations.length > 0 ? `NOT ${isFresher(keys.join())}` : "true",
    table === "details" && !isNewest ? "video_id NOT IN (SELECT id FROM main.videos)" : "true",
  ].join(" AND ");
  if (table === "details" && isNewest)
    database.run(`DELETE FROM main.details WHERE NOT ${isFresher("details.video_id")} AND video_id IN
      (SELECT id FROM added.videos EXCEPT SELECT video_id FROM added.details)`);
  const replacement = `UPDATE SET ${values.map((name) => `${name} = excluded.${name}`)}
    WHERE (${values}) IS NOT (${values.map((name) => `excluded.${name}`)})`;
  database.run(`INSERT INTO main.${table} (${names}) SELECT ${names} FROM added.${table} WHERE ${isWanted}
    ON CONFLICT (${keys}) DO ${isNewest ? replacement : "NOTHING"}`);
}

type Column = { name: string; pk: number };

function columnsOf(database: Database, table: string): Column[] {
  return database.query<Column, []>(`PRAGMA main.table_info(${table})`).all();
}

function idOf(table: string): string {
  return table === "generations" ? "id" : "generation";
}

/** What a generation's file says was taken down or erased. */
export function readRemovals(path: string): Removals {
  const database = new Database(path, { readonly: true, strict: true });
  try {
    const rows = database
      .query<Removals["rows"][number], []>(
        "SELECT kind, name, reason, removed_at FROM removals ORDER BY kind, name",
      )
      .all();
    return { rows, version: readVersion(database), erasedAt: readErasedAt(database) };
  } finally {
    database.close();
  }
}

function readErasedAt(database: Database): number | null {
  const isThere = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'erased'").get() !== null;
  const sql = "SELECT max(erased_at) AS at FROM erased";
  return isThere ? (database.query<{ at: number | null }, []>(sql).get()?.at ?? null) : null;
}

/**
 * Makes the removals of all stores those of the database: what one store took down is in no list of the others. The
 * version is the sum, which differs whenever one does. `alsoKept` leaves those that are there already.
 */
function writeRemovals(
  database: Database,
  all: readonly Removals[],
  { alsoKept }: { alsoKept: boolean },
): void {
  database.transaction(() => {
    const before = readVersion(database);
    if (!alsoKept) database.run("DELETE FROM removals");
    for (const { rows } of all)
      for (const { kind, name, reason, removed_at } of rows)
        database.run("INSERT OR IGNORE INTO removals (kind, name, reason, removed_at) VALUES (?, ?, ?, ?)", [
          kind,
          name,
          reason,
          removed_at,
        ]);
    const sum = all.reduce((total, { version }) => total + version, 0);
    database.run("UPDATE removals_version SET version = ?", [alsoKept ? Math.max(before, sum) + 1 : sum]);
  })();
}

function readVersion(database: Database): number {
  return database.query<{ version: number }, []>("SELECT version FROM removals_version").get()?.version ?? 0;
}
