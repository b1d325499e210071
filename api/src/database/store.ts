import { Database } from "bun:sqlite";
import type { PageStart, TrendingQuery } from "@trendvault/contract/queries";
import { DatabaseUnusable, explainSqliteError, requireFile } from "./database-files.ts";
import {
  type ExplanationKey,
  type ExplanationRecord,
  extractParts,
  keepParts,
  type RankingMetadata,
  type ReadParts,
  readExplanation,
  readMetadata,
} from "./explanations.ts";
import {
  countRanks,
  type Generation,
  type LargestIds,
  type ListLength,
  type NamedList,
  readGeneration,
  readLists,
} from "./generation.ts";
import { type ListedVideo, type ListPage, prepareListPageQuery, readListedVideos } from "./lists.ts";
import { canRead, oldestReadableVersion, supportedSchemaVersion } from "./schema-version.ts";
import { prepareVideoQuery, type VideoRecord } from "./videos.ts";

const pageCacheKilobytes = 1024; // a page of 50 is read in half of the time that it takes with 256
const startBusyTimeoutMs = 2000; // the writer may be recovering the log
const busyTimeoutMs = 10; // a wait stops every request of this process

/** One connection to the writer's database: read-only, it never migrates and cannot write. */
export class Store {
  readonly path: string;
  readonly #database: Database;
  readonly #readListPage: ReturnType<typeof prepareListPageQuery>;
  readonly #readVideo: ReturnType<typeof prepareVideoQuery>;
  readonly #readDataVersion: () => number;
  #readParts: ReadParts;

  /** `timeoutMs` is how long to wait for a lock. @throws DatabaseUnusable with a message of one sentence */
  static open(path: string, timeoutMs = startBusyTimeoutMs): Store {
    let database: Database | null = null;
    try {
      requireFile(path);
      database = new Database(path, { readonly: true, strict: true });
      return new Store(path, database, timeoutMs);
    } catch (error) {
      database?.close();
      if (error instanceof DatabaseUnusable) throw error;
      throw new DatabaseUnusable(`Cannot open ${path}: ${explainSqliteError(error)}`, { cause: error });
    }
  }

  private constructor(path: string, database: Database, timeoutMs: number) {
    this.path = path;
    this.#database = database;
    database.run("PRAGMA query_only = 1");
    database.run(`PRAGMA busy_timeout = ${timeoutMs}`);
    database.run(`PRAGMA cache_size = -${pageCacheKilobytes}`); // reads the file: a lock has to be waited for already
    requireSchema(database, path);
    this.#readListPage = prepareListPageQuery(database);
    this.#readVideo = prepareVideoQuery(database);
    this.#readParts = extractParts(database);
    const dataVersion = database.query<{ data_version: number }, []>("PRAGMA data_version");
    this.#readDataVersion = () => dataVersion.get()?.data_version ?? 0;
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }

  /** Differs whenever another connection has committed; may differ without that. Costs about a microsecond. */
  dataVersion(): number {
    return this.#readDataVersion();
  }

  /** The newest rankings of those that are not larger, if limits are given; null when there are none. */
  newestGeneration(largestIds?: LargestIds): Generation | null {
    return this.#inTransaction(() => {
      requireSchema(this.#database, this.path);
      return readGeneration(this.#database, largestIds);
    });
  }

  /** The largest id of a generation that is smaller than another one, whatever its regions; null when there is none. */
  idBefore(id: number): number | null {
    const sql = "SELECT max(id) AS id FROM generations WHERE id < ?";
    return this.#database.query<{ id: number | null }, [number]>(sql).get(id)?.id ?? null;
  }

  /** The next region of a generation, by code; null after the last. */
  regionAfter(generation: number, region: string): string | null {
    const sql = "SELECT min(region) AS code FROM generation_regions WHERE generation = ? AND region > ?";
    return (
      this.#database.query<{ code: string | null }, [number, string]>(sql).get(generation, region)?.code ??
      null
    );
  }

  readLists(generation: number): NamedList[] {
    return this.#inTransaction(() => readLists(this.#database, generation));
  }

  /** Reads every rank of a region and window, over all categories, so that damage shows. */
  countRanks(generation: number, region: string, window: string): ListLength[] {
    return this.#inTransaction(() => countRanks(this.#database, generation, { region, window }));
  }

  /** A page's rows of one pinned generation, or null when that generation is gone. */
  readListPage(query: TrendingQuery, start: PageStart): ListPage | null {
    return this.#inTransaction(() => this.#readListPage(query, start));
  }

  /** A video, with its ranks in the generation. */
  readVideo(id: string, generation: Generation): VideoRecord | null {
    return this.#inTransaction(() => this.#readVideo(id, generation));
  }

  /** The videos of all lists of a generation, in order. */
  readListedVideos(generation: number): ListedVideo[] {
    return this.#inTransaction(() => readListedVideos(this.#database, generation));
  }

  /** Why a video is where it is, or null when nothing is known of it in that region. */
  readExplanation(key: ExplanationKey, generation: number): ExplanationRecord | null {
    const readParts = this.#readParts;
    return this.#inTransaction(() => readExplanation(this.#database, generation, { ...key, readParts }));
  }

  /** From now on, explanations of a region that are read one after another take less time, and more memory. */
  expectManyExplanations(): void {
    this.#readParts = keepParts(this.#database);
  }

  /** How a generation was made, or null when it is gone. */
  readMetadata(generation: number): RankingMetadata | null {
    return this.#inTransaction(() => readMetadata(this.#database, generation));
  }

  /**
   * Reads a slice of a table, so that damage shows; of `trending_by_video` the rows of a generation. Gives the last key
   * that was read, or null at the end.
   */
  readSlice(
    table: SlicedTable,
    from: { after: string | number | null; generation: number },
  ): string | number | null {
    return this.#inTransaction(() => readSlice(this.#database, table, from));
  }

  /** Compares the lists of a generation with their index. @throws Error when rows are missing in one of them */
  requireSameRows(generation: number): void {
    this.#inTransaction(() => requireSameRows(this.#database, generation));
  }

  close(): void {
    this.#database.close();
  }

  // One short transaction: left open, it would keep the writer's checkpoints from shortening the log.
  #inTransaction<T>(read: () => T): T {
    return this.#database.transaction(read)();
  }
}

function requireSchema(database: Database, path: string): void {
  const table = database.query("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (table === null)
    throw new DatabaseUnusable(`Cannot serve ${path}: it is not a migrated TrendVault database`);
  const { version } = database
    .query<{ version: number }, []>("SELECT ifnull(max(version), 0) AS version FROM schema_migrations")
    .get() ?? { version: 0 };
  const { user_version: oldestReader } = database
    .query<{ user_version: number }, []>("PRAGMA user_version")
    .get() ?? { user_version: 0 };
  if (canRead(version, oldestReader)) return;
  const remedy = version > supportedSchemaVersion ? "update the origin" : "run writer migrate";
  const readable = `versions ${oldestReadableVersion} to ${supportedSchemaVersion}`;
  throw new DatabaseUnusable(
    `Cannot serve ${path}: its schema is version ${version}, this origin reads ${readable}; ${remedy}`,
  );
}

/** What is read row by row, in slices; the lists of `trending` are read one by one. */
export type SlicedTable = "videos" | "velocity" | "observations" | "trending_by_video";

const rowsPerSlice = 1000;

// The lengths make SQLite read the whole row. A slice ends with a value of the key's first column, and the next one
// begins after it: at most a few rows on a page that was read are passed over.
const slices: Record<SlicedTable, string> = {
  videos: slice("id", "length(title) + length(thumb_base)", "videos"),
  velocity: slice("video_id", "description_hash", "velocity"),
  observations: slice("observed_at", "previous_observed_at", "observations"),
  trending_by_video: slice("video_id", "0", "trending INDEXED BY trending_by_video", " AND generation = ?2"),
};

function slice(key: string, read: string, source: string, where = ""): string {
  return `SELECT max(key) AS last, total(read) FROM (SELECT ${key} AS key, ${read} AS read FROM ${source}
    WHERE ${key} > ?1${where} ORDER BY ${key} LIMIT ${rowsPerSlice})`;
}

/** Reads the rows after a key (null: from the first one). Gives the last key that was read, or null at the end. */
function readSlice(
  database: Database,
  table: SlicedTable,
  { after, generation }: { after: string | number | null; generation: number },
): string | number | null {
  type Slice = { last: string | number | null };
  const first = table === "observations" ? Number.MIN_SAFE_INTEGER : "";
  const query = database.query<Slice, (string | number)[]>(slices[table]);
  const key = after ?? first;
  const row = table === "trending_by_video" ? query.get(key, generation) : query.get(key);
  return row?.last ?? null;
}

// A count alone is read from the heads of pages; with a sum SQLite has to read the rows.
const rowsSql = `SELECT
  (SELECT count(*) + 0 * total(views) FROM trending NOT INDEXED WHERE generation = ?1) AS listed,
  (SELECT count(*) + 0 * total(length(video_id)) FROM trending INDEXED BY trending_by_video WHERE generation = ?1) AS indexed`;

/**
 * Compares the lists of a generation with the index of their videos: where a page has lost its rows, SQLite may give a
 * shorter list and no error. Reads all of both. @throws Error when one has more rows than the other
 */
function requireSameRows(database: Database, generation: number): void {
  const rows = database.query<{ listed: number; indexed: number }, [number]>(rowsSql).get(generation);
  if (rows === null || rows.listed === rows.indexed) return;
  throw new Error(
    `the lists of generation ${generation} have ${rows.listed} rows, their index ${rows.indexed}`,
  );
}
