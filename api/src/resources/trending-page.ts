import type { TrendingPage } from "@trendvault/contract/responses";
import {
  readCursor,
  type TrendingQuery,
  trendingUrl,
  writeCursor,
} from "@trendvault/contract/trending-query";
import type { ListPage, ListRow } from "../database/list-page.ts";
import { formatTime, formatTimeOrNull } from "./time-text.ts";

/** The page's JSON. */
export function writeTrendingPage(query: TrendingQuery, list: ListPage, token: string): string {
  const { generation } = list;
  return JSON.stringify({
    region: query.region,
    window: query.window,
    category: query.category ?? null,
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    newest_observed_at: formatTimeOrNull(list.newestObservedAt),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    count: list.rows.length,
    total: list.total,
    token,
    items: list.rows.map(describeItem),
    next: nextPageUrl(query, list),
  } satisfies TrendingPage);
}

/** The URL of the next page, or null on the last. */
export function nextPageUrl(query: TrendingQuery, list: ListPage): string | null {
  const start = query.cursor === undefined ? 0 : readCursor(query.cursor).afterRank;
  const afterRank = start + query.limit; // by rank, also when a rank is missing: pages begin at multiples of limit
  if (afterRank >= list.total) return null;
  const cursor = writeCursor({ generation: list.generation.id, afterRank });
  return trendingUrl({ ...query, cursor });
}

function describeItem(row: ListRow): TrendingPage["items"][number] {
  return {
    id: row.video_id,
    rank: row.rank,
    title: row.title,
    channel: row.channel,
    category: row.category,
    published_at: formatTimeOrNull(row.published_at),
    score: roundToTenth(row.score),
    velocity: {
      views_per_hour: roundToTenth(row.views_per_hour),
      previous_views_per_hour:
        row.previous_views_per_hour === null ? null : roundToTenth(row.previous_views_per_hour),
      views: row.views,
    },
    thumbs: [`${row.thumb_base}/hq.webp`, `${row.thumb_base}/sd.webp`],
  };
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
