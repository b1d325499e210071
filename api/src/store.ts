import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { PageStart, TrendingQuery } from "@trendvault/contract/trending-query";
import { type Generation, readGeneration } from "./generation.ts";
import { type ListRow, type ListSlice, sliceStatements } from "./list-rows.ts";

/** The migrations this code was written for. A test compares it with db/migrations. */
export const supportedSchemaVersion = 7;

/** The database cannot be served. The message is one sentence for the operator. */
export class StoreUnusable extends Error {}

/** The writer's database, read-only by construction: it never migrates, and it cannot write. */
export class Store {
  readonly path: string;
  readonly #database: Database;
  readonly #slices: ReturnType<typeof sliceStatements>;
  readonly #dataVersion: () => number;
  readonly #openedFile: string;

  /** Throws StoreUnusable. */
  static open(path: string): Store {
    const file = describeFile(path);
    if (file === null)
      throw new StoreUnusable(`Cannot open ${path}: there is no such file; run the writer first`);
    try {
      return new Store(path, file);
    } catch (error) {
      if (error instanceof StoreUnusable) throw error;
      throw new StoreUnusable(`Cannot open ${path}: ${explain(error)}`, { cause: error });
    }
  }

  private constructor(path: string, openedFile: string) {
    this.path = path;
    this.#openedFile = openedFile;
    this.#database = new Database(path, { readonly: true, strict: true });
    this.#database.run("PRAGMA query_only = 1");
    this.#database.run("PRAGMA busy_timeout = 250"); // milliseconds
    requireSchema(this.#database, path);
    this.#slices = sliceStatements(this.#database);
    const dataVersion = this.#database.query<{ data_version: number }, []>("PRAGMA data_version");
    this.#dataVersion = () => dataVersion.get()?.data_version ?? 0;
  }

  /** Differs whenever another connection has committed; may differ without that. Costs about a microsecond. */
  dataVersion(): number {
    return this.#dataVersion();
  }

  /** Whether the path names another file than the one that is open: the database was replaced or removed. */
  isReplaced(): boolean {
    return describeFile(this.path) !== this.#openedFile;
  }

  newestGeneration(): Generation | null {
    return this.#database.transaction(() => readGeneration(this.#database))();
  }

  /** A page's rows of one pinned generation, or null when that generation is gone. */
  readSlice(query: TrendingQuery, start: PageStart): ListSlice | null {
    return this.#database.transaction(() => this.#slices(query, start))();
  }

  close(): void {
    this.#database.close();
  }
}

export type { ListRow };

function requireSchema(database: Database, path: string): void {
  const table = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (table === null)
    throw new StoreUnusable(`Cannot serve ${path}: it is not a migrated TrendVault database`);
  const row = database
    .query<{ version: number | null }, []>("SELECT max(version) AS version FROM schema_migrations")
    .get();
  const version = row?.version ?? 0;
  if (version === supportedSchemaVersion) return;
  const remedy = version > supportedSchemaVersion ? "update the origin" : "run writer migrate";
  throw new StoreUnusable(
    `Cannot serve ${path}: its schema is version ${version}, this origin reads version ${supportedSchemaVersion}; ${remedy}`,
  );
}

// Device and inode say which file it is; rename and removal change them, the writer's own work does not.
function describeFile(path: string): string | null {
  const file = statSync(path, { throwIfNoEntry: false });
  return file === undefined ? null : `${file.dev}:${file.ino}`;
}

function explain(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  switch (code) {
    case "SQLITE_CANTOPEN":
    case "SQLITE_READONLY_CANTINIT":
      return "it needs to be readable, and its -wal and -shm files too, or its folder writable";
    case "SQLITE_NOTADB":
    case "SQLITE_CORRUPT":
      return "it is not a SQLite database, or it is damaged";
    case "SQLITE_BUSY":
      return "it is locked by another process";
    default:
      return message;
  }
}
