import { Database } from "bun:sqlite";
import { closeSync, copyFileSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { DatabaseBuilder, videos } from "./database-builder.ts";
import type { randomNumbers } from "./random-numbers.ts";

const served = ["generations", "generation_regions", "trending", "videos"];
const pageBytes = 4096;

/** A database that faults are done to, and what is true of it. */
export class FaultyDatabase {
  readonly folder: string;
  readonly path: string;
  readonly #regions: string[];
  readonly #random: ReturnType<typeof randomNumbers>;
  #publications = 0;

  constructor(regions: string[], random: ReturnType<typeof randomNumbers>) {
    const builder = new DatabaseBuilder();
    ({ folder: this.folder, path: this.path } = builder);
    builder.database.close();
    this.#regions = regions;
    this.#random = random;
    this.publish();
    this.checkpoint();
    copyFileSync(this.path, this.good);
  }

  /** A copy of the file as it was first. */
  get good(): string {
    return `${this.folder}/good.db`;
  }

  get servedTable(): string {
    return this.#random.pick(served);
  }

  /** Each generation has titles of its own, so that a list mixed from two would show. Gives its id. */
  publish(): number {
    const builder = new DatabaseBuilder(this.path);
    try {
      const lists = this.#regions.map((region) => ({ region, videos: videos(100, region) }));
      const id = builder.publish(lists, 1_795_171_200 + 60 * this.#publications++);
      if (this.#random.fraction() < 0.5) builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      return id;
    } finally {
      builder.database.close();
    }
  }

  checkpoint(): void {
    this.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  run(sql: string): void {
    this.#open((database) => database.run(sql));
  }

  /** As the documentation says how to replace a database. */
  restore(): void {
    this.removeLog();
    this.replace();
  }

  /** Leaves -wal and -shm as they are, which nobody should do. */
  replace(): void {
    const next = `${this.folder}/next.db`;
    copyFileSync(this.good, next);
    if (statSync(this.path, { throwIfNoEntry: false })?.isFile() === false)
      rmSync(this.path, { recursive: true });
    renameSync(next, this.path);
  }

  removeLog(): void {
    for (const suffix of ["-wal", "-shm"]) rmSync(this.path + suffix, { recursive: true, force: true });
  }

  overwritePage(): void {
    this.checkpoint();
    const pages = this.#open((database) =>
      database
        .query<{ pageno: number }, [string]>("SELECT pageno FROM dbstat WHERE name = ?")
        .all(this.servedTable),
    );
    overwrite(this.path, (this.#random.pick(pages).pageno - 1) * pageBytes, pageBytes);
  }

  /** Writes over a part of a file that belongs to it. */
  overwritePart(suffix: "-wal" | "-shm"): void {
    const path = this.path + suffix;
    const bytes = this.#random.integer(1, pageBytes);
    const last = Math.max(0, statSync(path).size - bytes);
    overwrite(path, this.#random.integer(0, last), bytes);
  }

  /** The newest generation as a process that has nothing else open finds it; null when not all can be read. */
  findNewest(): number | null {
    try {
      if (!statSync(this.path).isFile()) return null;
      return this.#open((database) => (isWhole(database) ? readNewest(database) : null));
    } catch {
      return null;
    }
  }

  #open<T>(action: (database: Database) => T): T {
    const database = new Database(this.path, { readwrite: true });
    try {
      database.run("PRAGMA busy_timeout = 2000");
      database.run("PRAGMA synchronous = OFF"); // as in DatabaseBuilder
      return action(database);
    } finally {
      database.close();
    }
  }
}

function overwrite(path: string, from: number, bytes: number): void {
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(bytes).fill(0x5a), 0, bytes, from);
  closeSync(file);
}

function isWhole(database: Database): boolean {
  const gaps =
    "SELECT 1 FROM trending GROUP BY generation, region, window, category HAVING count(*) < max(rank)";
  const newer = "SELECT 1 FROM schema_migrations WHERE version = 99";
  if (database.query(newer).get() !== null || database.query(gaps).get() !== null) return false;
  return served.every((table) => {
    database.query(`SELECT 1 FROM ${table}`).get(); // quick_check has nothing against a table that is missing
    const [row] = database.query<{ quick_check: string }, []>(`PRAGMA quick_check(${table})`).all();
    return row?.quick_check === "ok";
  });
}

function readNewest(database: Database): number | null {
  return database.query<{ id: number | null }, []>("SELECT max(id) AS id FROM generations").get()?.id ?? null;
}
