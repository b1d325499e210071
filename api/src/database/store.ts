import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { PageStart, TrendingQuery } from "@trendvault/contract/trending-query";
import { explain, StoreUnusable } from "./fault.ts";
import { type Generation, readCategories, readGeneration } from "./generation.ts";
import { type ListSlice, sliceStatements } from "./list-rows.ts";
import { type VideoRecord, videoStatements } from "./video-rows.ts";

/** The migrations this code was written for. A test compares it with db/migrations. */
export const supportedSchemaVersion = 7;

const pageCache = 256; // kilobytes: what is read once is kept as answers, not as pages
const patienceAtStart = 2000; // milliseconds: the writer may be recovering the log
const patienceWhileServing = 10; // a wait stops every request of this process

/** One connection to the writer's database: read-only, it never migrates and cannot write. */
export class Store {
  readonly path: string;
  readonly #database: Database;
  readonly #readSlice: ReturnType<typeof sliceStatements>;
  readonly #readVideo: ReturnType<typeof videoStatements>;
  readonly #readDataVersion: () => number;

  /** Throws StoreUnusable, whose message is one sentence. */
  static open(path: string, patience = patienceAtStart): Store {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      throw new StoreUnusable(`Cannot open ${path}: there is no such file; run the writer first`);
    }
    let database: Database | null = null;
    try {
      database = new Database(path, { readonly: true, strict: true });
      return new Store(path, database, patience);
    } catch (error) {
      database?.close();
      if (error instanceof StoreUnusable) throw error;
      throw new StoreUnusable(`Cannot open ${path}: ${explain(error)}`, { cause: error });
    }
  }

  private constructor(path: string, database: Database, patience: number) {
    this.path = path;
    this.#database = database;
    database.run("PRAGMA query_only = 1");
    database.run(`PRAGMA busy_timeout = ${patience}`);
    database.run(`PRAGMA cache_size = -${pageCache}`); // reads the file: a lock has to be waited for already
    requireSchema(database, path);
    this.#readSlice = sliceStatements(database);
    this.#readVideo = videoStatements(database);
    const dataVersion = database.query<{ data_version: number }, []>("PRAGMA data_version");
    this.#readDataVersion = () => dataVersion.get()?.data_version ?? 0;
    database.run(`PRAGMA busy_timeout = ${patienceWhileServing}`);
  }

  /** Differs whenever another connection has committed; may differ without that. Costs about a microsecond. */
  dataVersion(): number {
    return this.#readDataVersion();
  }

  newestGeneration(): Generation | null {
    return this.#snapshot(() => {
      requireSchema(this.#database, this.path);
      return readGeneration(this.#database);
    });
  }

  readCategories(generation: number): ReadonlySet<string> {
    return this.#snapshot(() => readCategories(this.#database, generation));
  }

  /** A page's rows of one pinned generation, or null when that generation is gone. */
  readSlice(query: TrendingQuery, start: PageStart): ListSlice | null {
    return this.#snapshot(() => this.#readSlice(query, start));
  }

  readVideo(id: string, generation: number): VideoRecord | null {
    return this.#snapshot(() => this.#readVideo(id, generation));
  }

  close(): void {
    this.#database.close();
  }

  // One short transaction: left open, it would keep the writer's checkpoints from shortening the log.
  #snapshot<T>(read: () => T): T {
    return this.#database.transaction(read)();
  }
}

function requireSchema(database: Database, path: string): void {
  const table = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (table === null)
    throw new StoreUnusable(`Cannot serve ${path}: it is not a migrated TrendVault database`);
  const { version } = database
    .query<{ version: number }, []>("SELECT ifnull(max(version), 0) AS version FROM schema_migrations")
    .get() ?? { version: 0 };
  if (version === supportedSchemaVersion) return;
  const remedy = version > supportedSchemaVersion ? "update the origin" : "run writer migrate";
  throw new StoreUnusable(
    `Cannot serve ${path}: its schema is version ${version}, this origin reads version ${supportedSchemaVersion}; ${remedy}`,
  );
}
