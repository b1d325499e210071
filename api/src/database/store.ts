import { Database } from "bun:sqlite";
import { listName, type Window, windows } from "@trendvault/contract/lists";
import type { PageStart, TrendingQuery } from "@trendvault/contract/queries";
import { findRegion, regionCodes } from "@trendvault/contract/regions";
import type { Explanation, Video } from "@trendvault/contract/responses";
import historySql from "../../../db/queries/video-history.sql" with { type: "text" };
import { DatabaseUnusable, explainSqliteError, requireFile } from "./database-files.ts";
import { canRead, oldestReadableVersion, supportedSchemaVersion } from "./schema-version.ts";

const pageCacheKilobytes = 1024; // a page of 50 is read in half of the time that it takes with 256
const startBusyTimeoutMs = 2000; // the writer may be recovering the log
const busyTimeoutMs = 10; // a wait stops every request of this process

/**
 * One connection to the writer's database: read-only, it never migrates and cannot write.
 *
 * In its SQL a parameter is `+?1`: SQLite compiles a statement whose plan might depend on the value of a bare one anew for
 * each run, which takes up to twenty times as long as the run.
 */
export class Store {
  readonly path: string;
  readonly #database: Database;
  #readListPage: ReturnType<typeof prepareListPageQuery>;
  readonly #readVideo: ReturnType<typeof prepareVideoQuery>;
  readonly #readDataVersion: () => number;
  readonly #transact: (read: () => unknown) => unknown;
  readonly #isHidden: IsHidden;
  #readParts: ReadParts;
  /** Unix seconds: what may be shown is read as of then. */
  #at = 0;

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
    this.#isHidden = findHidden(database);
    this.#readListPage = prepareListPageQuery(database, this.#isHidden);
    this.#readVideo = prepareVideoQuery(database, this.#isHidden);
    this.#readParts = extractParts(database);
    const dataVersion = database.query<{ data_version: number }, []>("PRAGMA data_version");
    this.#readDataVersion = () => dataVersion.get()?.data_version ?? 0;
    this.#transact = database.transaction((read: () => unknown) => read()); // once: to make it takes longer than to read a row
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }

  /** Differs whenever another connection has committed; may differ without that. Costs about a microsecond. */
  dataVersion(): number {
    return this.#readDataVersion();
  }

  /**
   * The newest rankings of those that are not larger, if limits are given; null when there are none. From now on all is
   * read as it may be shown at `at` (Unix seconds).
   */
  newestGeneration({ at = this.#at, largestIds }: NewestQuery = {}): Generation | null {
    return this.#inTransaction(() => {
      requireSchema(this.#database, this.path);
      this.#readListPage = prepareListPageQuery(this.#database, this.#isHidden); // there may be further columns
      this.#at = at;
      return readGeneration(this.#database, { at, isHidden: this.#isHidden, largestIds });
    });
  }

  /** The largest id of a generation that is smaller than another one, whatever its regions; null when there is none. */
  idBefore(id: number): number | null {
    const sql = "SELECT max(id) AS id FROM generations WHERE id < +?";
    return this.#database.query<{ id: number | null }, [number]>(sql).get(id)?.id ?? null;
  }

  /** The next region of a generation, by code; null after the last. */
  regionAfter(generation: number, region: string): string | null {
    const sql = "SELECT min(region) AS code FROM generation_regions WHERE generation = +? AND region > +?";
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
    return this.#inTransaction(() => this.#readListPage(query, start, this.#at));
  }

  /** A video, with its ranks in the generation. */
  readVideo(id: string, generation: Generation): VideoRecord | null {
    return this.#inTransaction(() => this.#readVideo(id, generation, this.#at));
  }

  /** The videos of all lists of a generation, in order. */
  readListedVideos(generation: number): ListedVideo[] {
    return this.#inTransaction(() => readListedVideos(this.#database, generation));
  }

  /** Whether a video is known, in whatever region, and may be shown. */
  hasVideo(id: string): boolean {
    const sql = videoSql(this.#isHidden);
    return this.#inTransaction(
      () => this.#database.query<object, [string, number]>(sql).get(id, this.#at) !== null,
    );
  }

  /** Whether a video of a region's lists over all categories has titles by language. */
  hasTitles(generation: number, region: string): boolean {
    // Without the windows, SQLite reads the lists of all categories.
    const sql = () => `SELECT 1 FROM trending WHERE generation = +?1 AND region = +?2
      AND window IN (${windows.map((name) => `'${name}'`)}) AND category = '' AND ${this.#isHidden.isTitled()} LIMIT 1`;
    return this.#inTransaction(() => this.#database.query(sql()).get(generation, region) !== null);
  }

  /** Why a video is where it is, or null when nothing is known of it in that region. */
  readExplanation(key: ExplanationKey, generation: number): ExplanationRecord | null {
    const how = { readParts: this.#readParts, isHidden: this.#isHidden, at: this.#at };
    return this.#inTransaction(() => readExplanation(this.#database, generation, { ...key, ...how }));
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

  /** Gives back the pages of the file that are kept: a megabyte after everything was read. */
  releaseMemory(): void {
    this.#database.run("PRAGMA shrink_memory");
  }

  close(): void {
    this.#database.close();
  }

  // One short transaction: left open, it would keep the writer's checkpoints from shortening the log.
  #inTransaction<T>(read: () => T): T {
    return this.#transact(read) as T;
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
type SlicedTable = "videos" | "velocity" | "observations" | "trending_by_video";

const rowsPerSlice = 1000;

// The lengths make SQLite read the whole row. A slice ends with a value of the key's first column, and the next one
// begins after it: at most a few rows on a page that was read are passed over.
const slices: Record<SlicedTable, string> = {
  videos: slice("id", "length(title) + length(thumb_base)", "videos"),
  velocity: slice("video_id", "description_hash", "velocity"),
  observations: slice("observed_at", "previous_observed_at", "observations"),
  trending_by_video: slice("video_id", "0", "trending INDEXED BY trending_by_video", " AND generation = +?2"),
};

function slice(key: string, read: string, source: string, where = ""): string {
  return `SELECT max(key) AS last, total(read) FROM (SELECT ${key} AS key, ${read} AS read FROM ${source}
    WHERE ${key} > +?1${where} ORDER BY ${key} LIMIT ${rowsPerSlice})`;
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
const comparedRowsSql = `SELECT
  (SELECT count(*) + 0 * total(views) FROM trending NOT INDEXED WHERE generation = +?1) AS listed,
  (SELECT count(*) + 0 * total(length(video_id)) FROM trending INDEXED BY trending_by_video WHERE generation = +?1) AS indexed`;

/**
 * Compares the lists of a generation with the index of their videos: where a page has lost its rows, SQLite may give a
 * shorter list and no error. Reads all of both. @throws Error when one has more rows than the other
 */
function requireSameRows(database: Database, generation: number): void {
  const rows = database.query<{ listed: number; indexed: number }, [number]>(comparedRowsSql).get(generation);
  if (rows === null || rows.listed === rows.indexed) return;
  throw new Error(
    `the lists of generation ${generation} have ${rows.listed} rows, their index ${rows.indexed}`,
  );
}

/**
 * Whether the row of `videos` was taken down, by itself or with its channel: two looks into an index. The first EXISTS is
 * the same for all rows, so that SQLite evaluates it once: without removals a page takes a third less.
 */
const isRemovedSql = `EXISTS (SELECT 1 FROM removals)
    AND (EXISTS (SELECT 1 FROM removals WHERE kind = 'video' AND name = videos.id)
    OR EXISTS (SELECT 1 FROM removals WHERE kind = 'channel' AND name = videos.channel))`;

/**
 * SQL: whether the row of `videos` may not be shown at a time (Unix seconds), whose parameter is given. Some columns are
 * NULL while the writer has not made them: a migration may come while the database is open.
 */
type IsHidden = {
  at(parameter: string): string;
  column(name: "available_until" | "countries"): string;
  /** Of the row of `videos`: whether it is live, when that ends, and whether it is why it was in a list. */
  live: {
    at(parameter: string): string;
    endsAt: () => string;
    isOver(parameter: string, list: string): string;
  };
  isForKids(): string;
  /** What lists do not need: JSON, by column of `details`. */
  details(): string;
  /** Of the row of `videos`, JSON by language. */
  titles(): string;
  /** Of the row of `trending`: whether there are any, read in an index of those that have some. */
  isTitled(): string;
  /** Of the row of `videos`: what its pictures are made of (thumbsOf). */
  thumbs(): string;
  /** Of the row of `trending`: a title in a language of the region, behind that and a space. */
  titleInRegion(): string;
  /** Of the row of `trending`, the same: an editor placed the video, and that is over. */
  placed: { isOver(at: string): string; column(name: "placed" | "placed_until"): string };
};

/** What is hidden at a time (Unix seconds). */
type Hiding = { isHidden: IsHidden; at: number };

function findHidden(database: Database): IsHidden {
  const isThere = findColumn(database, "videos", "held_because");
  const canPlace = findColumn(database, "trending", "placed");
  const canBeLive = findColumn(database, "videos", "live");
  const canBeForKids = findColumn(database, "videos", "made_for_kids");
  const hasTitles = findColumn(database, "trending", "title_in_region");
  const hasDetails = findColumn(database, "details", "tags");
  const hasPictures = findColumn(database, "videos", "thumbs"); // and details.pictures, of one migration
  return {
    placed: {
      isOver: (at) => (canPlace() ? `ifnull(trending.placed_until <= ${at}, 0)` : `${at} < 0`),
      column: (name) => (canPlace() ? `trending.${name}` : "NULL"),
    },
    at: (at) => `(${isRemovedSql}) OR ${isThere() ? isRestrictedSql(at) : `${at} < 0`}`,
    column: (name) => (isThere() ? `videos.${name}` : "NULL"),
    live: {
      at: (at) => (canBeLive() ? `iif(ifnull(videos.live_until > ${at}, 1), videos.live, NULL)` : "NULL"),
      endsAt: () => (canBeLive() ? "videos.live_until" : "NULL"),
      isOver: (at, list) =>
        canBeLive()
          ? `(${list} = '${onAir}' AND (videos.live IS NOT 'now' OR ifnull(videos.live_until <= ${at}, 0)))`
          : `${at} < 0`,
    },
    isForKids: () => (canBeForKids() ? "videos.made_for_kids" : "NULL"),
    details: () => (hasDetails() ? detailsSql(hasPictures() ? ", 'pictures', json(pictures)" : "") : "NULL"),
    thumbs: () => (hasPictures() ? "ifnull(videos.thumbs, thumb_base)" : "thumb_base"),
    titles: () => (hasDetails() ? "(SELECT titles FROM details WHERE video_id = videos.id)" : "NULL"),
    isTitled: () => (hasDetails() ? isTitledSql : "0"),
    titleInRegion: () => (hasTitles() ? "title_in_region" : "NULL"),
  };
}

const onAir = listName({ live: "now" });

// Most databases have none: that is found once, and not for each video.
const isTitledSql = `EXISTS (SELECT 1 FROM details INDEXED BY details_with_titles WHERE titles IS NOT NULL)
  AND EXISTS (SELECT 1 FROM details INDEXED BY details_with_titles
    WHERE details.video_id = trending.video_id AND titles IS NOT NULL)`;

const detailsSql = (
  more: string,
) => `(SELECT json_object('tags', json(tags), 'licence', licence, 'titles', json(titles)${more})
    FROM details WHERE video_id = videos.id)`;

/** A clock that was set back, to before the newest generation, shows nothing again. */
function isRestrictedSql(at: string): string {
  const latest = "(SELECT generations.published_at FROM generations ORDER BY generations.id DESC LIMIT 1)";
  return `videos.held_because IS NOT NULL OR ifnull(videos.available_from > ${at}, 0)
    OR ifnull(videos.available_until <= max(${at}, ifnull(${latest}, 0)), 0)`;
}

type VideoRow = {
  id: string;
  title: string;
  channel: string;
  category: string | null;
  language: string | null;
  published_at: number | null;
  duration_seconds: number | null;
  thumbs: string;
  url: string | null;
  countries: string | null;
  made_for_kids: 1 | null;
  available_until: number | null;
  live: Video["live"] | null;
  details: string | null;
};

/** A rank in a list, whose name (contract/lists.ts) is in `category`. */
type ListPlace = {
  region: string;
  window: Window;
  category: string;
  rank: number;
  score: number;
  expected_views: number | null;
  look_weight: number | null;
  placed: string | null;
  placed_until: number | null;
};

type Observation = { region: string; observed_at: number; views: number };

/** A video, its ranks in a generation, and its newest observations per region, newest first. */
export type VideoRecord = { video: VideoRow; places: ListPlace[]; observations: Observation[] };

const observationsPerRegion = 48;

const videoSql = (
  isHidden: IsHidden,
) => `SELECT id, title, channel, category, language, published_at, duration_seconds, ${isHidden.thumbs()} AS thumbs, url,
    ${isHidden.column("countries")} AS countries, ${isHidden.column("available_until")} AS available_until,
    ${isHidden.live.at("+?2")} AS live, ${isHidden.isForKids()} AS made_for_kids, ${isHidden.details()} AS details
  FROM videos WHERE id = +?1 AND NOT (${isHidden.at("+?2")})`;

// Left to itself, SQLite reads the whole generation, because the primary key has the order that is asked for, too.
export const placesSql = (
  expectedViews: string,
  placed: IsHidden["placed"],
) => `SELECT region, window, category, rank, round(score, 1) AS score,
    round(${expectedViews}, 1) AS expected_views, look_weight, ${placed.column("placed")} AS placed,
    ${placed.column("placed_until")} AS placed_until
  FROM trending INDEXED BY trending_by_video CROSS JOIN generation_regions USING (generation, region)
  WHERE generation = +?1 AND video_id = +?2 AND NOT (${placed.isOver("+?3")}) ORDER BY region, window, category`;

/** Prepares the statements once; the returned function reads one video, inside a transaction. */
function prepareVideoQuery(database: Database, isHidden: IsHidden) {
  const expectedViews = findExpectedViews(database);
  const places = (ranking: number, id: string, at: number) => {
    const sql = placesSql(expectedViews(), isHidden.placed);
    return database.query<ListPlace, [number, string, number]>(sql).all(ranking, id, at);
  };
  const observations = (id: string) =>
    database.query<Observation, [string, number, null]>(historySql).all(id, observationsPerRegion, null);
  return (id: string, generation: Generation, at: number): VideoRecord | null => {
    const found = database.query<VideoRow, [string, number]>(videoSql(isHidden)).get(id, at);
    if (found === null) return null;
    return {
      video: found,
      places: joinPlaces(generation, (ranking) => places(ranking, id, at)),
      observations: observations(id),
    };
  };
}

/** The ranks in the newest ranking of each region, in the order of one ranking's. */
function joinPlaces({ rankings, regions }: Generation, read: (ranking: number) => ListPlace[]): ListPlace[] {
  const [only, ...others] = rankings;
  if (only !== undefined && others.length === 0) return read(only.id);
  return rankings
    .flatMap(({ id }) => read(id).filter(({ region }) => regions.get(region)?.id === id))
    .sort((left, right) => Number(left.region > right.region) - Number(left.region < right.region));
}

/** One rank of a list, joined with its video. Times are Unix seconds. */
export type ListRow = {
  rank: number;
  video_id: string;
  score: number;
  expected_views: number | null;
  views: number;
  views_per_hour: number;
  previous_views_per_hour: number | null;
  title: string;
  title_in_region: string | null;
  /** JSON, where the query asks for titles in a language. */
  titles?: string | null;
  channel: string;
  category: string | null;
  language: string | null;
  published_at: number | null;
  duration_seconds: number | null;
  /** JSON of two addresses, or a `thumb_base`. */
  thumbs: string;
  url: string | null;
  /** JSON, where it may not be played everywhere. */
  countries: string | null;
  made_for_kids: 1 | null;
  live: Video["live"] | null;
  /** JSON, where an editor placed it: members of TrendingItem. */
  placed: string | null;
  previous_rank: number | null;
  /** Of `fields=chart` only: the last hour, since 1970, of `hourly_views`. */
  hour?: number | null;
  /** JSON: cumulative counts at full hours, oldest first; null where nobody counted. */
  hourly_views?: string | null;
};

/** `total` is the last rank of the whole list, `rows` are the page without the videos that may not be shown. */
export type ListPage = {
  generation: {
    id: number;
    publishedAt: number;
    previousAt: number | null;
    maxPerChannel: number;
    maxPerChannelRanks: number;
  };
  /** From 0 to 1; null without impressions. */
  impressionWeight: number | null;
  newestObservedAt: number | null;
  total: number;
  rows: ListRow[];
  /** Unix seconds: when the first one of them may not be shown any more. */
  endsAt: number;
};

const listWhere = "generation = +?1 AND trending.region = +?2 AND window = +?3 AND trending.category = +?4";

const headSql = `SELECT published_at, previous_at, max_per_channel, max_per_channel_ranks, newest_observed_at, look_weight FROM generations
  JOIN generation_regions ON generation = id AND region = +?2 WHERE id = +?1`;

const totalSql = `SELECT rank AS total FROM trending WHERE ${listWhere} ORDER BY rank DESC LIMIT 1`;

const chartColumns = ", hour, hourly_views.views AS hourly_views";
const chartJoin =
  "LEFT JOIN hourly_views ON hourly_views.region = trending.region AND hourly_views.video_id = trending.video_id";

function rowsSql(expectedViews: string, isHidden: IsHidden, { fields, titles }: TrendingQuery): string {
  const [growth, join] = fields === "chart" ? [chartColumns, chartJoin] : ["", ""];
  const columns = titles === undefined ? growth : `${growth}, ${isHidden.titles()} AS titles`;
  return `SELECT rank, trending.video_id, score, ${expectedViews} AS expected_views, trending.views, views_per_hour, previous_views_per_hour,
    title, ${isHidden.titleInRegion()} AS title_in_region, channel, videos.category AS category, language, published_at, duration_seconds, ${isHidden.thumbs()} AS thumbs, url, previous_rank,
    ((${isHidden.at("+?7")}) OR ${isHidden.placed.isOver("+?7")} OR ${isHidden.live.isOver("+?7", "+?4")}) AS hidden,
    ${isHidden.placed.column("placed")} AS placed, ${isHidden.placed.column("placed_until")} AS placed_until,
    ${isHidden.column("countries")} AS countries, ${isHidden.column("available_until")} AS available_until,
    ${isHidden.live.at("+?7")} AS live, ${isHidden.live.endsAt()} AS live_until, ${isHidden.isForKids()} AS made_for_kids${columns}
  FROM trending JOIN videos ON videos.id = trending.video_id ${join}
  WHERE ${listWhere} AND rank > +?5 ORDER BY rank LIMIT +?6`;
}

type List = [number, string, string, string];
type Head = {
  published_at: number;
  previous_at: number | null;
  max_per_channel: number;
  max_per_channel_ranks: number;
  newest_observed_at: number | null;
  look_weight: number | null;
};

/**
 * The column of trending, for SQL; NULL while the writer has not made it. A migration may come while the database is open.
 */
function findExpectedViews(database: Database): () => string {
  const isThere = findColumn(database, "trending", "expected_views");
  return () => (isThere() ? "trending.expected_views" : "NULL");
}

function findColumn(database: Database, table: string, column: string): () => boolean {
  let isThere = false;
  return () => {
    const find = "SELECT 1 FROM pragma_table_info(+?) WHERE name = +?";
    isThere ||= database.query<object, [string, string]>(find).get(table, column) !== null;
    return isThere;
  };
}

/** The returned function reads one page, inside a transaction. Its statements are of the columns that there are now. */
function prepareListPageQuery(database: Database, isHidden: IsHidden) {
  const head = database.query<Head, [number, string]>(headSql);
  const total = database.query<{ total: number }, List>(totalSql);
  const expectedViews = findExpectedViews(database);
  type Ends = Record<"available_until" | "placed_until" | "live_until", number | null>;
  type Row = ListRow & Ends & { hidden: 0 | 1 };
  const prepareRows = (query: TrendingQuery) =>
    database.query<Row, [...List, number, number, number]>(rowsSql(expectedViews(), isHidden, query));
  const prepared = new Map<string, ReturnType<typeof prepareRows>>(); // by what their SQL depends on
  const rowsOf = (query: TrendingQuery) => {
    const kind = `${query.fields === "chart"} ${query.titles !== undefined}`;
    const statement = prepared.get(kind) ?? prepareRows(query);
    prepared.set(kind, statement);
    return statement;
  };
  return (query: TrendingQuery, start: PageStart, at: number): ListPage | null => {
    const found = head.get(start.generation, query.region);
    if (found === null) return null;
    const list: List = [start.generation, query.region, query.window, listName(query)];
    const all = rowsOf(query).all(...list, start.afterRank, query.limit, at);
    const page = {
      generation: describeGeneration(start.generation, found),
      impressionWeight: found.look_weight,
      newestObservedAt: found.newest_observed_at,
      total: total.get(...list)?.total ?? 0,
      rows: all,
    };
    requireWhole(page, start.afterRank, query.limit);
    const rows = all.filter(({ hidden }) => hidden === 0);
    const ends = rows.flatMap((row) => [
      row.available_until,
      row.placed_until,
      query.live === undefined ? null : row.live_until, // elsewhere only the mark ends
    ]);
    return { ...page, rows, endsAt: Math.min(...ends.map((end) => end ?? Infinity)) };
  };
}

function describeGeneration(id: number, head: Head): ListPage["generation"] {
  return {
    id,
    publishedAt: head.published_at,
    previousAt: head.previous_at,
    maxPerChannel: head.max_per_channel,
    maxPerChannelRanks: head.max_per_channel_ranks,
  };
}

// Ranks run without gaps by the writer's promise; those of hidden videos are counted. A torn list is a damaged
// database: better the last good answer.
function requireWhole(page: Omit<ListPage, "endsAt">, afterRank: number, limit: number): void {
  const expected = Math.max(0, Math.min(limit, page.total - afterRank));
  const whole = page.rows.length === expected && page.rows.every((row, i) => row.rank === afterRank + 1 + i);
  if (!whole) throw new Error(`Cannot use a list whose ranks after ${afterRank} have gaps`);
}

/** A video that is in a list of a region and window, over all categories or of one. */
type ListedVideo = { id: string; region: string; window: string };

const listedSql = `SELECT DISTINCT video_id AS id, region, window FROM trending INDEXED BY trending_by_video
  WHERE generation = +? ORDER BY video_id, region, window`;

/** The videos of all lists of a generation, in order. */
function readListedVideos(database: Database, generation: number): ListedVideo[] {
  return database.query<ListedVideo, [number]>(listedSql).all(generation);
}

/** Why a video is where it is, as the writer stored it. Times are Unix seconds. */
export type ExplanationRecord = {
  video: {
    id: string;
    title: string;
    title_in_region: string | null;
    channel: string;
    category: string | null;
    published_at: number | null;
    available_until: number | null;
    /** JSON, where it may not be played everywhere. */
    countries: string | null;
    details: string | null;
  };
  made: {
    formula: string;
    taper_hours: number | null;
    max_per_channel: number;
    max_per_channel_ranks: number;
  };
  place: PlaceRow | null;
  /** Null for a video that is in this list. */
  absence: AbsenceRow | null;
  counts: CountsRow | null;
  /** Null for a video that is in none of the lists over all categories, and far from them. */
  parts: Parts | null;
  /** What editors decided of its scores; with a time, that it waits for them. */
  rule: { factor: number; reason: string | null; review_until?: number } | null;
  /** The fields of its lines that editors lifted. */
  lifted: string[];
};

type PlaceRow = {
  placed: string | null;
  placed_until: number | null;
  rank: number;
  score: number;
  expected_views: number | null;
  look_weight: number | null;
  total: number;
  is_explored: 0 | 1;
};

type AbsenceRow = {
  look_weight: number | null;
  published_at: number;
  /** Of the region's view counts. */
  newest_observed_at: number | null;
  last_rank: number;
  last_score: number | null;
  /** When the video was counted first, else announced, as its source says. */
  known_since: number;
  /** When the writer first had it, of whatever region. */
  came_at: number;
  /** How many of its channel are in the list. */
  of_channel: number;
  /** Null where none are counted in the region. */
  impressions: number | null;
};

type CountsRow = {
  views: number;
  counted_at: number;
  views_per_hour: number;
  rated_at: number;
  previous_views_per_hour: number | null;
};

type Parts = {
  ageStartsAt: number;
  /** By rank, where the limit by channel changed it: the rank without it, null beyond the list's end. */
  limited: Record<number, number | null>;
  /** Null where impressions take no part. */
  visitors: Visitors | null;
  /** By window, in the order of `windows`; none where the lists say them, or nobody saw it. */
  scores: number[];
};

type Visitors = NonNullable<Explanation["visitors"]>;

type RankedRow = {
  look_weight: number | null;
  views: number;
  views_per_hour: number;
  previous_views_per_hour: number | null;
};

/** How lists were made: null where an older writer did not store it. */
export type RankingMetadata = {
  formula: string;
  sources: string | null;
  explore_share: number | null;
  removed_videos: number | null;
  looks_counted: 0 | 1 | null;
};

/** What is asked for: a video's place in the list of a region and window over all categories. */
export type ExplanationKey = { id: string; region: string; window: Window };

const explainedVideoSql = (isHidden: IsHidden) => `SELECT id, title, channel, category, published_at,
    ${isHidden.column("available_until")} AS available_until, ${isHidden.column("countries")} AS countries,
    ${isHidden.details()} AS details,
    (SELECT ${isHidden.titleInRegion()} FROM trending WHERE generation = +?3 AND video_id = +?1 AND region = +?2 LIMIT 1)
      AS title_in_region FROM videos
  WHERE id = +?1 AND NOT (${isHidden.at("+?4")})
    AND (EXISTS (SELECT 1 FROM velocity WHERE video_id = +?1 AND region = +?2)
      OR EXISTS (SELECT 1 FROM catalogue WHERE video_id = +?1 AND region = +?2)
      OR EXISTS (SELECT 1 FROM trending WHERE generation = +?3 AND video_id = +?1 AND region = +?2))`;

const madeSql = `SELECT formula, taper_hours, max_per_channel, max_per_channel_ranks FROM generations WHERE id = +?1`;

const placeSql = (
  expectedViews: string,
  placed: IsHidden["placed"],
) => `SELECT ${placed.column("placed")} AS placed, ${placed.column("placed_until")} AS placed_until,
    trending.rank, round(score, 1) AS score,
    round(${expectedViews}, 1) AS expected_views, look_weight,
    (SELECT max(rank) FROM trending WHERE generation = +?1 AND region = +?2 AND window = +?4 AND category = '') AS total,
    e.rank IS NOT NULL AS is_explored
  FROM trending INDEXED BY trending_by_video
  CROSS JOIN generation_regions USING (generation, region)
  LEFT JOIN explored_ranks AS e USING (generation, region, window, category, rank)
  WHERE trending.generation = +?1 AND trending.region = +?2 AND video_id = +?3 AND trending.window = +?4
    AND trending.category = '' AND NOT (${placed.isOver("+?5")})`;

const rankedSql = `SELECT look_weight, t.views, t.views_per_hour, t.previous_views_per_hour
  FROM trending AS t INDEXED BY trending_by_video
  JOIN generation_regions USING (generation, region)
  WHERE generation = +?1 AND region = +?2 AND t.video_id = +?3 AND t.category = '' LIMIT 1`;

const absenceSql = (
  impressions: string,
  firstAnnounced: string,
) => `SELECT look_weight, published_at, newest_observed_at,
    ifnull(last.rank, 0) AS last_rank, round(last.score, 1) AS last_score,
    coalesce((SELECT first_observed_at FROM velocity WHERE video_id = +?3 AND region = +?2),
      (SELECT min(${firstAnnounced}) FROM catalogue WHERE video_id = +?3 AND region = +?2), 0) AS known_since,
    (SELECT first_seen_at FROM videos WHERE id = +?3) AS came_at,
    (SELECT count(*) FROM trending AS t JOIN videos AS v ON v.id = t.video_id
      WHERE t.generation = +?1 AND t.region = +?2 AND t.window = +?4 AND t.category = ''
        AND v.channel = (SELECT channel FROM videos WHERE id = +?3)) AS of_channel,
    iif(look_weight IS NULL, NULL, ${impressions}) AS impressions
  FROM generation_regions JOIN generations ON id = generation LEFT JOIN (
    SELECT rank, score FROM trending WHERE generation = +?1 AND region = +?2 AND window = +?4 AND category = ''
    ORDER BY rank DESC LIMIT 1) AS last
  WHERE generation = +?1 AND region = +?2`;

// Files of followers have no sums of visitors.
const impressionsTableSql = "SELECT 1 FROM sqlite_schema WHERE name = 'impressions'";
const impressionsSql = "(SELECT total(impressions) FROM impressions WHERE region = +?2 AND video_id = +?3)";

function readAbsence(database: Database, key: [number, string, string], window: Window): AbsenceRow | null {
  const impressions = database.query(impressionsTableSql).get() === null ? "NULL" : impressionsSql;
  const hasFirst = findColumn(database, "catalogue", "first_announced_at")();
  const sql = absenceSql(impressions, hasFirst ? "first_announced_at" : "announced_at");
  return database.query<AbsenceRow, [...typeof key, string]>(sql).get(...key, window);
}

const velocitySql = `SELECT views, last_observed_at AS counted_at, views_per_hour, rated_at, previous_views_per_hour
  FROM velocity WHERE video_id = +?1 AND region = +?2`;

/** What is stored about a video's place; null when nothing is known of it in that region. Call it in a transaction. */
function readExplanation(
  database: Database,
  generation: number,
  { id, region, window, readParts, isHidden, at }: ExplanationKey & Hiding & { readParts: ReadParts },
): ExplanationRecord | null {
  const video = database
    .query<ExplanationRecord["video"], [string, string, number, number]>(explainedVideoSql(isHidden))
    .get(id, region, generation, at);
  const made = database.query<ExplanationRecord["made"], [number]>(madeSql).get(generation);
  if (video === null || made === null) return null;
  const key: [number, string, string] = [generation, region, id];
  const place = database
    .query<PlaceRow, [...typeof key, string, number]>(
      placeSql(findExpectedViews(database)(), isHidden.placed),
    )
    .get(...key, window, at);
  const absence = place === null ? readAbsence(database, key, window) : null;
  const ranked = database.query<RankedRow, typeof key>(rankedSql).get(...key);
  const stored = readParts(generation, { id, region, window });
  const decided = { rule: readRule(database, key), lifted: readLifted(database, id, at) };
  if (ranked === null || stored === null) {
    const counts = database.query<CountsRow, [string, string]>(velocitySql).get(id, region);
    const parts = stored && readPartsOf(stored, absence?.look_weight ?? null).parts;
    return { video, made, place, absence, ...decided, counts, parts: parts?.scores.length ? parts : null };
  }
  return { video, made, place, absence, ...decided, ...describeParts(ranked, stored) };
}

function readRule(database: Database, key: [number, string, string]): ExplanationRecord["rule"] {
  if (!findColumn(database, "explanations", "rules")()) return null;
  const sql = `SELECT json_extract(rules, '$."' || +?3 || '"') AS rule FROM explanations WHERE generation = +?1 AND region = +?2`;
  const row = database.query<{ rule: string | null }, typeof key>(sql).get(...key);
  return row?.rule == null ? null : JSON.parse(row.rule);
}

function readLifted(database: Database, id: string, at: number): string[] {
  if (!findColumn(database, "lifted", "field")()) return [];
  const sql = "SELECT field FROM lifted WHERE video_id = +?1 AND ifnull(until > +?2, 1) ORDER BY field";
  const rows = database.query<{ field: string }, [string, number]>(sql).all(id, at);
  return rows.map(({ field }) => field);
}

// The order is that of the writer's ExplainedVideo.php.
type PartValues = [
  counted_at: number | null,
  count: number,
  rated_at: number,
  age: number,
  ...visitors: VisitorValues,
];
type VisitorValues = [] | [number, number, number, number, number, boolean, ...scores: number[]];

function describeParts(
  { views, views_per_hour, previous_views_per_hour, look_weight }: RankedRow,
  stored: StoredParts,
): Pick<ExplanationRecord, "counts" | "parts"> {
  const { counted_at, rated_at, parts } = readPartsOf(stored, look_weight);
  const counts =
    counted_at === null ? null : { views, counted_at, views_per_hour, rated_at, previous_views_per_hour };
  return { counts, parts };
}

function readPartsOf({ parts, limited }: StoredParts, weight: number | null) {
  const [counted_at, , rated_at, ageStartsAt, ...values]: PartValues = JSON.parse(parts);
  const [, , , , , , ...scores] = values;
  const visitors = readVisitors(values, weight);
  return {
    counted_at,
    rated_at,
    parts: { ageStartsAt, limited: JSON.parse(limited ?? "{}"), visitors, scores },
  };
}

function readVisitors([impressions, ...more]: VisitorValues, weight: number | null): Visitors | null {
  if (impressions === undefined || weight === null) return null;
  const [clicks = 0, prior = 0, mean = 0, upper = 0, is_held = false] = more;
  const rates = {
    prior_click_through_rate: prior,
    click_through_rate: mean,
    upper_click_through_rate: upper,
  };
  return { impressions, clicks, weight, ...rates, is_held };
}

/** How the lists of a generation were made, or null when it is gone. */
function readMetadata(database: Database, generation: number): RankingMetadata | null {
  const sql = `SELECT formula, sources, explore_share, removed_videos, looks_counted FROM generations WHERE id = +?`;
  return database.query<RankingMetadata, [number]>(sql).get(generation);
}

/**
 * What the writer stored of a video's place, each as JSON: its parts, and where the limit by channel changed a window's
 * ranks.
 */
type StoredParts = { parts: string; limited: string | null };

type Key = { id: string; region: string; window: string };

/** Gives null where nothing is stored. Call it in a transaction. */
type ReadParts = (generation: number, key: Key) => StoredParts | null;

// The characters of an id need no escaping within the quotes of a path.
const partsSql = `SELECT json_extract(parts, '$."' || +?3 || '"') AS parts, json_extract(limited, '$.' || +?4) AS limited
  FROM explanations WHERE generation = +?1 AND region = +?2`;

/** Reads a video's parts alone: as long as the parts of a whole region are parsed for it, some 0.3 milliseconds. */
function extractParts(database: Database): ReadParts {
  type Row = { parts: string | null; limited: string | null };
  return (generation, { id, region, window }) => {
    const query = database.query<Row, [number, string, string, string]>(partsSql);
    const row = query.get(generation, region, id, window);
    return row?.parts == null ? null : { parts: row.parts, limited: row.limited };
  };
}

const membersOf = (column: string) =>
  `SELECT key, value FROM explanations, json_each(${column}) WHERE generation = +?1 AND region = +?2`;

/** The same from memory, for who asks for many videos of a region one after another: it keeps those of the last one. */
function keepParts(database: Database): ReadParts {
  const read = (column: string, key: [number, string]) => {
    type Member = { key: string; value: string };
    const members = database.query<Member, typeof key>(membersOf(column)).all(...key);
    return new Map(members.map((member) => [member.key, member.value]));
  };
  let kept = { of: "", parts: new Map<string, string>(), limited: new Map<string, string>() };
  return (generation, { id, region, window }) => {
    const of = `${generation} ${region}`;
    if (kept.of !== of) {
      kept = {
        of,
        parts: read("parts", [generation, region]),
        limited: read("limited", [generation, region]),
      };
    }
    const parts = kept.parts.get(id);
    return parts === undefined ? null : { parts, limited: kept.limited.get(window) ?? null };
  };
}

/** One published ranking of some regions; of all where there is one writer. Times are Unix seconds. */
type Ranking = {
  id: number;
  publishedAt: number;
  maxPerChannel: number;
  maxPerChannelRanks: number;
};

/** The newest ranking of a region. */
type RegionGeneration = Ranking & {
  /** The id of the oldest one of this region that is kept. */
  oldestId: number;
  videoCount: number;
  newestObservedAt: number | null;
};

/**
 * What is served: the newest ranking of each region. Where several writers share the regions, these are several
 * rankings, and the members beside `regions` are those of the one that was published last.
 */
export type Generation = Ranking & {
  /** The smallest id that is kept. */
  oldestId: number;
  /** By code. A region that nobody has published is not among them. */
  regions: ReadonlyMap<string, RegionGeneration>;
  /** All of them, each once, by id: one, unless several writers share the regions. */
  rankings: readonly Pick<Ranking, "id" | "publishedAt">[];
  /** Another one is another generation for a reader: other videos are hidden. */
  hiddenVersion: string;
  /** Unix seconds: when another video may not be shown any more, or ends being live. */
  endsAt: number;
};

/** The number of ranks of a list; `category` is its name (contract/lists.ts). */
type ListLength = { category: string; ranks: number };

/** A list by its name, which is in `category`. */
type NamedList = { region: string; window: string; category: string };

/** The largest id that is read of each region; of those that are not named, any. */
type LargestIds = ReadonlyMap<string, number>;

/** `at`: Unix seconds; as before where it is not given. */
type NewestQuery = { at?: number; largestIds?: LargestIds | undefined };

/** The newest rankings that are not larger than `largestIds`, or null without any. Call it inside a transaction. */
function readGeneration(
  database: Database,
  { at, isHidden, largestIds = new Map() }: NewestQuery & Hiding,
): Generation | null {
  const rows = knownRegions(
    database.query<RegionRow, [string]>(newestSql).all(JSON.stringify(Object.fromEntries(largestIds))),
  );
  const last = rows.reduce<RegionRow | null>(laterOf, null);
  if (last === null) return null;
  return {
    ...describeRanking(last),
    oldestId: database.query<{ id: number }, []>("SELECT min(id) AS id FROM generations").get()?.id ?? 0,
    regions: new Map(rows.map((row) => [row.region, describeRegion(row)])),
    rankings: describeRankings(rows),
    ...readHidden(database, { at, isHidden }),
  };
}

/** Regions that were taken out of the deployment's file may have lists for a while. @throws DatabaseUnusable when no others have */
function knownRegions(rows: RegionRow[]): RegionRow[] {
  const known = rows.filter(({ region }) => findRegion(region) !== undefined);
  if (known.length > 0 || rows.length === 0) return known;
  const published = rows.map(({ region }) => region).join(", ");
  throw new DatabaseUnusable(
    `Cannot serve the regions ${published}, since there are ${regionCodes.join(", ")}: REGIONS_FILE must name the writer's file`,
  );
}

type RegionRow = {
  region: string;
  id: number;
  oldest_id: number;
  published_at: number;
  max_per_channel: number;
  max_per_channel_ranks: number;
  video_count: number;
  newest_observed_at: number | null;
};

// For each region both ends of its part of an index: as fast with thousands of generations as with two. Who deletes a
// generation by hand, without foreign keys, leaves its rows in generation_regions: they are passed over.
const newestSql = `SELECT r.region, g.id, g.published_at, g.max_per_channel, g.max_per_channel_ranks, r.video_count,
    r.newest_observed_at, (${endSql("")} ORDER BY generation LIMIT 1) AS oldest_id
  FROM regions CROSS JOIN generation_regions AS r ON r.region = code AND r.generation = (
    ${endSql(`AND generation <= ifnull(+?1 ->> code, ${Number.MAX_SAFE_INTEGER})`)} ORDER BY generation DESC LIMIT 1)
  JOIN generations AS g ON g.id = r.generation`;

function endSql(bound: string): string {
  return `SELECT generation FROM generation_regions CROSS JOIN generations ON generations.id = generation
    WHERE region = code ${bound}`;
}

function laterOf(last: RegionRow | null, row: RegionRow): RegionRow {
  if (last === null || row.published_at > last.published_at) return row;
  return row.published_at === last.published_at && row.id > last.id ? row : last;
}

function describeRanking(row: RegionRow): Ranking {
  return {
    id: row.id,
    publishedAt: row.published_at,
    maxPerChannel: row.max_per_channel,
    maxPerChannelRanks: row.max_per_channel_ranks,
  };
}

function describeRankings(rows: RegionRow[]): Generation["rankings"] {
  const byId = new Map(rows.map(({ id, published_at }) => [id, { id, publishedAt: published_at }]));
  return [...byId.values()].sort((left, right) => left.id - right.id);
}

function describeRegion(row: RegionRow): RegionGeneration {
  return {
    ...describeRanking(row),
    oldestId: row.oldest_id,
    videoCount: row.video_count,
    newestObservedAt: row.newest_observed_at,
  };
}

// Steps from list to list along the primary key: DISTINCT would read every row of the generation. The rank
// makes each step a seek; without it SQLite would first read the whole list that it is to leave.
const nextListSql = `SELECT region, window, category FROM trending
  WHERE generation = +?1 AND (region, window, category, rank) > (+?2, +?3, +?4, ${Number.MAX_SAFE_INTEGER})
  ORDER BY region, window, category, rank LIMIT 1`;

// The sum makes SQLite read the rows, and not only count them.
const ranksSql = `SELECT category, count(*) AS ranks, max(rank) AS last, sum(views) FROM trending
  WHERE generation = +?1 AND region = +?2 AND window = +?3 GROUP BY category`;

/** Reads every rank of a region's and window's lists, and gives how many each has. @throws Error for a torn list */
function countRanks(
  database: Database,
  generation: number,
  { region, window }: { region: string; window: string },
): ListLength[] {
  const lists = database
    .query<ListLength & { last: number }, [number, string, string]>(ranksSql)
    .all(generation, region, window);
  const isTorn = lists.some(({ ranks, last }) => ranks !== last);
  if (isTorn)
    throw new Error(`Cannot use a list of ${region} in generation ${generation} whose ranks have gaps`);
  return lists;
}

/** The lists of a generation, each once for every window. 8 milliseconds with 14 regions, 120 with 200. */
function readLists(database: Database, generation: number): NamedList[] {
  const next = database.query<NamedList, [number, string, string, string]>(nextListSql);
  const lists: NamedList[] = [];
  let list = next.get(generation, "", "", "");
  while (list !== null) {
    lists.push(list);
    list = next.get(generation, list.region, list.window, list.category);
  }
  return lists;
}

const endsSql = (ends: [column: string, table: string][]) =>
  ends
    .map(
      ([column, table]) => `SELECT (SELECT max(${column}) FROM ${table} WHERE ${column} <= +?1) AS last,
  (SELECT min(${column}) FROM ${table} WHERE ${column} > +?1) AS next`,
    )
    .join(" UNION ALL ");

/** The version rises with every removal, and when one is undone: both change pages of generations that stay as they are. */
function readHidden(
  database: Database,
  { at, isHidden }: Hiding,
): Pick<Generation, "hiddenVersion" | "endsAt"> {
  const sql = endsSql([
    [isHidden.column("available_until"), "videos"],
    [isHidden.live.endsAt(), "videos"],
    [isHidden.placed.column("placed_until"), "trending"],
  ]);
  const rows = database.query<Record<"last" | "next", number | null>, [number]>(sql).all(at);
  const removals = database.query<{ version: number }, []>("SELECT version FROM removals_version").get();
  return {
    hiddenVersion: `${removals?.version ?? 0} ${Math.max(...rows.map(({ last }) => last ?? 0))}`,
    endsAt: Math.min(...rows.map(({ next }) => next ?? Infinity)),
  };
}
