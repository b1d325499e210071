import type { FeedForm } from "./feed-url.ts";
import { largestLimit } from "./list-bounds.ts";
import { regionCodes } from "./regions.ts";
import { type InvalidParameter, parseTrendingQuery, type TrendingQuery } from "./trending-query.ts";

/** Which feed a path names. */
export type FeedAddress = { region: TrendingQuery["region"]; form: FeedForm };

/** A feed: the longest first page of a list, in one form. */
export type FeedQuery = TrendingQuery & { form: FeedForm };

/** The feed that a path names, such as /feeds/PL.atom, or null when it names none. */
export function feedAt(path: string): FeedAddress | null {
  const [, code, form] = /^\/feeds\/([A-Za-z]{2})\.(json|atom)$/.exec(path) ?? [];
  const region = regionCodes.find((known) => known === code?.toUpperCase());
  return region === undefined ? null : { region, form: form as FeedForm };
}

type ParsedFeedQuery =
  | { query: FeedQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/** Reads the query string of a feed, as strictly as that of a list: it selects a window and a category. */
export function parseFeedQuery({ region, form }: FeedAddress, search: string): ParsedFeedQuery {
  const names = [...new URLSearchParams(search).keys()];
  if (names.some((name) => name !== "window" && name !== "category")) {
    return { query: null, invalid: [{ name: "(unknown)", detail: "expected only window, category" }] };
  }
  const parsed = parseTrendingQuery(search);
  if (parsed.query === null) return parsed;
  return { query: { ...parsed.query, region, form, limit: largestLimit }, invalid: null };
}
