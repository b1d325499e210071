import { type TrendingQuery, trendingUrl, writeCursor } from "@trendvault/contract/trending-query";
import type { ListRow, ListSlice } from "../database/list-rows.ts";
import { formatTime, formatTimeOrNull } from "./time-text.ts";

/** A page's JSON around the place of its token: the token changes every minute, the rest does not. */
export type TrendingText = {
  beforeToken: string;
  afterToken: string;
  count: number;
  /** The URL of the page behind this one, or null on the last. */
  next: string | null;
};

export function writeTrendingText(query: TrendingQuery, slice: ListSlice): TrendingText {
  const { generation } = slice;
  const next = nextUrl(query, slice);
  const head = {
    region: query.region,
    window: query.window,
    category: query.category ?? null,
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    newest_observed_at: formatTimeOrNull(slice.newestObservedAt),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    count: slice.rows.length,
    total: slice.total,
  };
  return {
    beforeToken: `${JSON.stringify(head).slice(0, -1)},"token":"`,
    afterToken: `","items":${JSON.stringify(slice.rows.map(describeItem))},"next":${JSON.stringify(next)}}`,
    count: slice.rows.length,
    next,
  };
}

function describeItem(row: ListRow) {
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

function nextUrl(query: TrendingQuery, slice: ListSlice): string | null {
  const last = slice.rows.at(-1);
  if (last === undefined || last.rank >= slice.total) return null;
  return trendingUrl({
    ...query,
    cursor: writeCursor({ generation: slice.generation.id, afterRank: last.rank }),
  });
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
