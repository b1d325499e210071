import type { Database } from "bun:sqlite";
import { readRemovalsVersion } from "./removals.ts";

/** What the origin knows of one published ranking. Times are Unix seconds. */
export type Generation = {
  id: number;
  /** The id of the oldest generation that is kept. */
  oldestId: number;
  publishedAt: number;
  maxPerChannel: number;
  maxPerChannelRanks: number;
  regions: ReadonlyMap<string, RegionFreshness>;
  /** Another one is another generation for a reader: its pages are not the same. */
  removalsVersion: number;
};

/** The number of ranks of a category's list; category '' is the list over all categories. */
export type ListLength = { category: string; ranks: number };

type RegionFreshness = { videoCount: number; newestObservedAt: number | null };

/** The newest generation with an id smaller than `before`, or null. Call it inside a transaction. */
export function readGeneration(
  database: Database,
  before: number = Number.MAX_SAFE_INTEGER,
): Generation | null {
  const row = database.query<GenerationRow, [number]>(newestSql).get(before);
  if (row === null) return null;
  return {
    id: row.id,
    oldestId: row.oldest_id,
    publishedAt: row.published_at,
    maxPerChannel: row.max_per_channel,
    maxPerChannelRanks: row.max_per_channel_ranks,
    regions: readRegions(database, row.id),
    removalsVersion: readRemovalsVersion(database),
  };
}

type GenerationRow = {
  id: number;
  oldest_id: number;
  published_at: number;
  max_per_channel: number;
  max_per_channel_ranks: number;
};

const newestSql = `SELECT id, (SELECT min(id) FROM generations) AS oldest_id, published_at, max_per_channel,
  max_per_channel_ranks FROM generations WHERE id < ?1 ORDER BY id DESC LIMIT 1`;

const regionsSql = `SELECT region, video_count, newest_observed_at
  FROM generation_regions WHERE generation = ?`;

// Steps from list to list along the primary key: DISTINCT would read every row of the generation. The rank
// makes each step a seek; without it SQLite would first read the whole list that it is to leave.
const nextListSql = `SELECT region, window, category FROM trending
  WHERE generation = ?1 AND (region, window, category, rank) > (?2, ?3, ?4, ${Number.MAX_SAFE_INTEGER})
  ORDER BY region, window, category, rank LIMIT 1`;

function readRegions(database: Database, generation: number): Map<string, RegionFreshness> {
  type Row = { region: string; video_count: number; newest_observed_at: number | null };
  const rows = database.query<Row, [number]>(regionsSql).all(generation);
  return new Map(
    rows.map((row) => [
      row.region,
      { videoCount: row.video_count, newestObservedAt: row.newest_observed_at },
    ]),
  );
}

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

/** The categories that have a list of their own somewhere. Up to 8 milliseconds: there are hundreds of lists. */
export function readCategories(database: Database, generation: number): Set<string> {
  type List = { region: string; window: string; category: string };
  const next = database.query<List, [number, string, string, string]>(nextListSql);
  const categories = new Set<string>();
  let list = next.get(generation, "", "", "");
  while (list !== null) {
    if (list.category !== "") categories.add(list.category);
    list = next.get(generation, list.region, list.window, list.category);
  }
  return categories;
}
