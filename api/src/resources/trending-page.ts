import { nextPageUrl, type TrendingQuery } from "@trendvault/contract/queries";
import type { TrendingChartPage, TrendingPage, TrendingSnippetPage } from "@trendvault/contract/responses";
import type { ListPage, ListRow } from "../database/list-page.ts";
import { sparklineOf } from "./sparkline.ts";
import { thumbsOf } from "./thumbs.ts";
import { formatTime, formatTimeOrNull } from "./time-text.ts";
import type { VideoLinks } from "./video-links.ts";

/** A page's JSON around its token, in UTF-8: the token is all that changes with the minute. */
export type WrittenPage = { head: Uint8Array; tail: Uint8Array };

/** Writes a page, but for its token. */
export function writeTrendingPage(query: TrendingQuery, list: ListPage, linkOf: VideoLinks): WrittenPage {
  const text = JSON.stringify(describePage(query, list, linkOf));
  const token = text.indexOf(noToken) + noToken.length - 1; // within a string, its quotes would be escaped
  const encoder = new TextEncoder();
  return { head: encoder.encode(text.slice(0, token)), tail: encoder.encode(text.slice(token)) };
}

/** The bytes of a page with its token. */
export function insertToken({ head, tail }: WrittenPage, token: string): Uint8Array<ArrayBuffer> {
  const middle = new TextEncoder().encode(token); // of a token's alphabet nothing has to be escaped
  const bytes = new Uint8Array(head.length + middle.length + tail.length);
  bytes.set(head);
  bytes.set(middle, head.length);
  bytes.set(tail, head.length + middle.length);
  return bytes;
}

type AnyItem = (TrendingPage | TrendingChartPage | TrendingSnippetPage)["items"][number];
type AnyPage = Omit<TrendingPage, "items"> & { items: AnyItem[] };

const noToken = '"token":""';

function describePage(query: TrendingQuery, list: ListPage, linkOf: VideoLinks): AnyPage {
  const { generation } = list;
  return {
    region: query.region,
    window: query.window,
    category: query.category ?? null,
    ...(query.language !== undefined && { language: query.language }),
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    previous_generated_at: formatTimeOrNull(generation.previousAt),
    newest_observed_at: formatTimeOrNull(list.newestObservedAt),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    count: list.rows.length,
    total: list.total,
    token: "",
    items: describeItems(query, list, linkOf),
    next: nextPageUrl(query, { generation: generation.id, total: list.total }),
  };
}

function describeItems(
  { fields }: TrendingQuery,
  { rows, generation: { publishedAt } }: ListPage,
  linkOf: VideoLinks,
): AnyItem[] {
  switch (fields) {
    case undefined:
      return rows.map((row) => describeItem(row, linkOf));
    case "snippet":
      return rows.map((row) => describeSnippet(row, linkOf));
    case "chart":
      return rows.map((row) => ({
        ...describeItem(row, linkOf),
        sparkline: sparklineOf(row, publishedAt),
      }));
  }
}

function describeSnippet(row: ListRow, linkOf: VideoLinks): TrendingSnippetPage["items"][number] {
  const { video_id: id, rank, title, channel } = row;
  return { id, rank, title, channel, thumbs: thumbsOf(row.thumb_base), url: linkOf(id, row.url) };
}

/** A rank as pages have it. */
export function describeItem(row: ListRow, linkOf: VideoLinks): TrendingPage["items"][number] {
  return {
    id: row.video_id,
    rank: row.rank,
    previous_rank: row.previous_rank,
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
    thumbs: thumbsOf(row.thumb_base),
    url: linkOf(row.video_id, row.url),
  };
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
