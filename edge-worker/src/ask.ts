import {
  defaultLimit,
  type InvalidParameter,
  parseTrendingQuery,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/trending-query";
import { marketFor } from "./market.ts";
import { listPath } from "./paths.ts";

/**
 * What a request asks for. `target` is the canonical path and query, the only thing that caches know it by. A
 * list's always names the region, so that one visitor's market never becomes another's.
 */
export type Ask = {
  target: string;
  /** What a list has to be; null for a document, which its path says all about. */
  query: TrendingQuery | null;
  /** Whether the visitor's country chose the region, because the URL does not. */
  placed: boolean;
};

export type ReadAsk = { ask: Ask; invalid: null } | { ask: null; invalid: InvalidParameter[] };

/** Reads a served path and its query, with the origin's own parser. `country` as `request.cf.country` gives it. */
export function readAsk({ pathname, search }: Pick<URL, "pathname" | "search">, country?: string): ReadAsk {
  if (pathname === listPath) return readListAsk(search, country);
  if (search !== "") return { ask: null, invalid: [{ name: "(unknown)", detail: "expected no parameters" }] };
  return { ask: { target: pathname, query: null, placed: false }, invalid: null };
}

/** Whether a query is for a list's first page as most visitors want it: all categories, the usual length. */
export function isFrontPage({ category, limit, cursor }: TrendingQuery): boolean {
  return category === undefined && limit === defaultLimit && cursor === undefined;
}

/** The target as the log may have it: a category is whatever a visitor has typed. */
export function loggedTarget({ query, target }: Ask): string {
  return query?.category === undefined ? target : trendingUrl({ ...query, category: "(hidden)" });
}

function readListAsk(search: string, country: string | undefined): ReadAsk {
  const parsed = parseTrendingQuery(search);
  if (parsed.query === null) return { ask: null, invalid: parsed.invalid };
  const placed = !new URLSearchParams(search).has("region");
  const query = placed ? { ...parsed.query, region: marketFor(country) } : parsed.query;
  return { ask: { query, target: trendingUrl(query), placed }, invalid: null };
}
