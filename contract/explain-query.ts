import { explanationPath } from "./paths.ts";
import { type ParsedTrendingQuery, parseTrendingQuery, type TrendingQuery } from "./trending-query.ts";

/** Which list a video's place is explained in. */
export type ExplainQuery = Pick<TrendingQuery, "region" | "window">;

/** Reads the query string of an explanation, as strictly as that of a list. */
export function parseExplainQuery(search: string): ParsedTrendingQuery {
  const names = [...new URLSearchParams(search).keys()];
  if (names.some((name) => name !== "region" && name !== "window")) {
    return { query: null, invalid: [{ name: "(unknown)", detail: "expected only region, window" }] };
  }
  return parseTrendingQuery(search);
}

/** The one URL of an explanation: the default window left out. It is a cache key. */
export function explanationUrl(id: string, { region, window }: ExplainQuery): string {
  return `${explanationPath(id)}?region=${region}${window === "day" ? "" : `&window=${window}`}`;
}
