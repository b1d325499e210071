import type { Database } from "bun:sqlite";
import { listName } from "@trendvault/contract/lists";
import type { PageStart, TrendingQuery } from "@trendvault/contract/queries";
import { isRemovedSql } from "./videos.ts";

/** One rank of a list, joined with its video. Times are Unix seconds. */
export type ListRow = {
  rank: number;
  video_id: string;
  score: number;
  views: number;
  views_per_hour: number;
  previous_views_per_hour: number | null;
  title: string;
  channel: string;
  category: string | null;
  published_at: number | null;
  thumb_base: string;
  url: string | null;
  previous_rank: number | null;
  /** Of `fields=chart` only: the last hour, since 1970, of `hourly_views`. */
  hour?: number | null;
  /** JSON: cumulative counts at full hours, oldest first; null where nobody counted. */
  hourly_views?: string | null;
};

/** `total` is the last rank of the whole list, `rows` are the page without the videos that were taken down. */
export type ListPage = {
  generation: {
    id: number;
    publishedAt: number;
    previousAt: number | null;
    maxPerChannel: number;
    maxPerChannelRanks: number;
  };
  newestObservedAt: number | null;
  total: number;
  rows: ListRow[];
};

const listWhere = "generation = ?1 AND trending.region = ?2 AND window = ?3 AND trending.category = ?4";

const headSql = `SELECT published_at, previous_at, max_per_channel, max_per_channel_ranks, newest_observed_at FROM generations
  JOIN generation_regions ON generation = id AND region = ?2 WHERE id = ?1`;

const totalSql = `SELECT rank AS total FROM trending WHERE ${listWhere} ORDER BY rank DESC LIMIT 1`;

const rowsSql = rowsQuery("", "");
const chartRowsSql = rowsQuery(
  ", hour, hourly_views.views AS hourly_views",
  "LEFT JOIN hourly_views ON hourly_views.region = trending.region AND hourly_views.video_id = trending.video_id",
);

function rowsQuery(columns: string, join: string): string {
  return `SELECT rank, trending.video_id, score, trending.views, views_per_hour, previous_views_per_hour,
    title, channel, videos.category AS category, published_at, thumb_base, url, previous_rank, (${isRemovedSql}) AS removed${columns}
  FROM trending JOIN videos ON videos.id = trending.video_id ${join}
  WHERE ${listWhere} AND rank > ?5 ORDER BY rank LIMIT ?6`;
}

type List = [number, string, string, string];
type Head = {
  published_at: number;
  previous_at: number | null;
  max_per_channel: number;
  max_per_channel_ranks: number;
  newest_observed_at: number | null;
};

/** Prepares the statements once; the returned function reads one page, inside a transaction. */
export function prepareListPageQuery(database: Database) {
  const head = database.query<Head, [number, string]>(headSql);
  const total = database.query<{ total: number }, List>(totalSql);
  const rows = prepareRows(database, rowsSql);
  let chartRows: typeof rows | null = null;
  const rowsOf = ({ fields }: TrendingQuery) => {
    if (fields !== "chart") return rows;
    chartRows ??= prepareRows(database, chartRowsSql);
    return chartRows;
  };
  return (query: TrendingQuery, start: PageStart): ListPage | null => {
    const found = head.get(start.generation, query.region);
    if (found === null) return null;
    const list: List = [start.generation, query.region, query.window, listName(query)];
    const page = {
      generation: describeGeneration(start.generation, found),
      newestObservedAt: found.newest_observed_at,
      total: total.get(...list)?.total ?? 0,
      rows: rowsOf(query).all(...list, start.afterRank, query.limit),
    };
    requireWhole(page, start.afterRank, query.limit);
    return { ...page, rows: page.rows.filter(({ removed }) => removed === 0) };
  };
}

function prepareRows(database: Database, sql: string) {
  return database.query<ListRow & { removed: 0 | 1 }, [...List, number, number]>(sql);
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

// Ranks run without gaps by the writer's promise; those of removed videos are counted. A torn list is a damaged
// database: better the last good answer.
function requireWhole(page: ListPage, afterRank: number, limit: number): void {
  const expected = Math.max(0, Math.min(limit, page.total - afterRank));
  const whole = page.rows.length === expected && page.rows.every((row, i) => row.rank === afterRank + 1 + i);
  if (!whole) throw new Error(`Cannot use a list whose ranks after ${afterRank} have gaps`);
}

/** A video that is in a list of a region and window, over all categories or of one. */
export type ListedVideo = { id: string; region: string; window: string };

const listedSql = `SELECT DISTINCT video_id AS id, region, window FROM trending INDEXED BY trending_by_video
  WHERE generation = ? ORDER BY video_id, region, window`;

/** The videos of all lists of a generation, in order. */
export function readListedVideos(database: Database, generation: number): ListedVideo[] {
  return database.query<ListedVideo, [number]>(listedSql).all(generation);
}
