import type { Database } from "bun:sqlite";
import { findRegion, regionCodes } from "@trendvault/contract/regions";
import { DatabaseUnusable } from "./database-files.ts";

/** One published ranking of some regions; of all where there is one writer. Times are Unix seconds. */
export type Ranking = {
  id: number;
  publishedAt: number;
  maxPerChannel: number;
  maxPerChannelRanks: number;
};

/** The newest ranking of a region. */
export type RegionGeneration = Ranking & {
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
  /** Another one is another generation for a reader: its pages are not the same. */
  removalsVersion: number;
};

/** The number of ranks of a list; `category` is its name (contract/lists.ts). */
export type ListLength = { category: string; ranks: number };

/** A list by its name, which is in `category`. */
export type NamedList = { region: string; window: string; category: string };

/** The largest id that is read of each region; of those that are not named, any. */
export type LargestIds = ReadonlyMap<string, number>;

/** The newest rankings that are not larger than `largestIds`, or null without any. Call it inside a transaction. */
export function readGeneration(database: Database, largestIds: LargestIds = new Map()): Generation | null {
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
    removalsVersion: readRemovalsVersion(database),
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

/** Whether nothing of two generations differs. */
export function isSameGeneration(left: Generation | null, right: Generation | null): boolean {
  return left === right || (left !== null && right !== null && markOf(left) === markOf(right));
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
    ${endSql(`AND generation <= ifnull(?1 ->> code, ${Number.MAX_SAFE_INTEGER})`)} ORDER BY generation DESC LIMIT 1)
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

function markOf({ oldestId, removalsVersion, regions }: Generation): string {
  const marks = [...regions].map(([code, { id, oldestId: oldest, publishedAt }]) => [
    code,
    id,
    oldest,
    publishedAt,
  ]);
  return `${oldestId} ${removalsVersion} ${marks.join(";")}`;
}

// Steps from list to list along the primary key: DISTINCT would read every row of the generation. The rank
// makes each step a seek; without it SQLite would first read the whole list that it is to leave.
const nextListSql = `SELECT region, window, category FROM trending
  WHERE generation = ?1 AND (region, window, category, rank) > (?2, ?3, ?4, ${Number.MAX_SAFE_INTEGER})
  ORDER BY region, window, category, rank LIMIT 1`;

// The sum makes SQLite read the rows, and not only count them.
const ranksSql = `SELECT category, count(*) AS ranks, max(rank) AS last, sum(views) FROM trending
  WHERE generation = ?1 AND region = ?2 AND window = ?3 GROUP BY category`;

/** Reads every rank of a region's and window's lists, and gives how many each has. @throws Error for a torn list */
export function countRanks(
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
export function readLists(database: Database, generation: number): NamedList[] {
  const next = database.query<NamedList, [number, string, string, string]>(nextListSql);
  const lists: NamedList[] = [];
  let list = next.get(generation, "", "", "");
  while (list !== null) {
    lists.push(list);
    list = next.get(generation, list.region, list.window, list.category);
  }
  return lists;
}

/** Rises with every removal, and when one is undone: both change pages of generations that stay as they are. */
function readRemovalsVersion(database: Database): number {
  return database.query<{ version: number }, []>("SELECT version FROM removals_version").get()?.version ?? 0;
}
