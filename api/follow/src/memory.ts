import { Database } from "bun:sqlite";
import type { Pointer } from "@trendvault/contract/pointer";
import { FollowFailure, localFailure } from "./failure.ts";

/** The last pointer that was accepted from a store, and what of its generation is merged with that of others. */
export type Accepted = { pointer: Pointer; sha256: string; text: string };
/** `erasedAt`: when something was last erased (Unix seconds), if ever. */
type Removals = { rows: RemovalRow[]; version: number; erasedAt?: number | null };
type RemovalRow = { kind: string; name: string; reason: string; removed_at: number };

/**
 * What must outlast this process: how far each store was, so that nothing older is taken again. A SQLite file beside
 * the database, which stays locked while this process lives: two followers do not write one database.
 */
export class Memory {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @throws FollowFailure */
  static open(path: string): Memory {
    try {
      const database = new Database(path, { create: true, strict: true });
      database.run("PRAGMA locking_mode = EXCLUSIVE"); // taken by the first write, until the process ends
      database.run("PRAGMA synchronous = FULL");
      database.transaction(() => {
        for (const table of tables) database.run(table);
        database.run("UPDATE stores SET store = store"); // takes the lock, also where all tables are there
      })();
      return new Memory(database);
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (code.startsWith("SQLITE_BUSY")) throw new FollowFailure("held", heldByAnother(path));
      if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
        throw new FollowFailure("not_written", `${path} is damaged: delete it, and start again.`);
      throw localFailure(error, path);
    }
  }

  accepted(store: string): Accepted | null {
    const row = this.#database
      .query<{ pointer: string; sha256: string }, [string]>(
        "SELECT pointer, sha256 FROM stores WHERE store = ?",
      )
      .get(store);
    return row === null ? null : { pointer: JSON.parse(row.pointer), sha256: row.sha256, text: row.pointer };
  }

  stores(): string[] {
    return this.#database
      .query<{ store: string }, []>("SELECT store FROM stores")
      .all()
      .map(({ store }) => store);
  }

  removals(store: string): Removals {
    const row = this.#database
      .query<{ removals: string }, [string]>("SELECT removals FROM stores WHERE store = ?")
      .get(store);
    return row === null ? { rows: [], version: 0 } : JSON.parse(row.removals);
  }

  /** Whose generation it is, or null. */
  storeOf(generation: number): string | null {
    const sql = "SELECT store FROM generations WHERE id = ?";
    return this.#database.query<{ store: string }, [number]>(sql).get(generation)?.store ?? null;
  }

  /** On the disk when it returns. */
  accept(store: string, { pointer, sha256, text }: Accepted, removals: Removals): void {
    this.#database.transaction(() => {
      this.#database.run("INSERT OR REPLACE INTO stores VALUES (?, ?, ?, ?)", [
        store,
        text,
        sha256,
        JSON.stringify(removals),
      ]);
      this.attribute(store, [pointer.generation]);
    })();
  }

  attribute(store: string, generations: readonly number[]): void {
    for (const id of generations)
      this.#database.run("INSERT OR REPLACE INTO generations VALUES (?, ?)", [id, store]);
  }

  /** Forgets whose all other generations were, and stores that are not followed any more. */
  keepOnly(generations: readonly number[], stores: readonly string[]): void {
    this.#database.transaction(() => {
      this.#database.run("DELETE FROM generations WHERE id NOT IN (SELECT value FROM json_each(?))", [
        JSON.stringify(generations),
      ]);
      this.#database.run("DELETE FROM stores WHERE store NOT IN (SELECT value FROM json_each(?))", [
        JSON.stringify(stores),
      ]);
    })();
  }

  close(): void {
    this.#database.close();
  }
}

const tables = [
  "CREATE TABLE IF NOT EXISTS stores (store TEXT NOT NULL PRIMARY KEY, pointer TEXT NOT NULL, sha256 TEXT NOT NULL, removals TEXT NOT NULL) STRICT",
  "CREATE TABLE IF NOT EXISTS generations (id INTEGER PRIMARY KEY, store TEXT NOT NULL) STRICT",
];

function heldByAnother(path: string): string {
  return `Another follower holds ${path}: one may write a database. Find it with fuser ${path}.`;
}
