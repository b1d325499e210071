import type { TokenList } from "./token-subject.ts";
import { readCursor, type TrendingQuery, trendingUrl, writeCursor } from "./trending-query.ts";

/** What a list's pages have in common: which generation it is of, and how many ranks it has. */
export type ListExtent = { generation: number; total: number };

/** The rank after which the page of a query begins. */
export function pageStart({ cursor }: Pick<TrendingQuery, "cursor">): number {
  return cursor === undefined ? 0 : readCursor(cursor).afterRank;
}

/** The URL of the next page, or null on the last. */
export function nextPageUrl(query: TrendingQuery, { generation, total }: ListExtent): string | null {
  const afterRank = pageStart(query) + query.limit; // by rank, also when one is missing: pages begin at multiples of limit
  if (afterRank >= total) return null;
  return trendingUrl({ ...query, cursor: writeCursor({ generation, afterRank }) });
}

/** What the token of a page says. `category`: the list's name in tokens, "" for all categories together. */
export function pageInToken(
  query: TrendingQuery,
  { generation, total }: ListExtent,
  category: string,
): TokenList {
  const { region, window, limit } = query;
  const offset = pageStart(query);
  return { region, window, category, generation, offset, count: Math.min(limit, total - offset) };
}
