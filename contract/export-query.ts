import type { Window } from "./list-bounds.ts";
import { regionCodes } from "./regions.ts";
import { type InvalidParameter, parseTrendingQuery, type TrendingQuery } from "./trending-query.ts";

/** What is exported: a market's lists over all categories, of one window, or of all without it. */
export type ExportQuery = { region: TrendingQuery["region"]; window: Window | undefined };

/** The media type of an export: a JSON value a line. */
export const exportType = "application/x-ndjson";

/** The region whose export a path names, such as /api/export/PL.ndjson, or null when it names none. */
export function exportedRegionAt(path: string): TrendingQuery["region"] | null {
  const [, code] = /^\/api\/export\/([A-Za-z0-9-]{1,20})\.ndjson$/.exec(path) ?? [];
  return regionCodes.find((known) => known === code?.toUpperCase()) ?? null;
}

type ParsedExportQuery =
  | { query: ExportQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/** Reads the query string of an export, as strictly as that of a list: it selects a window. */
export function parseExportQuery(region: ExportQuery["region"], search: string): ParsedExportQuery {
  const names = [...new URLSearchParams(search).keys()];
  if (names.some((name) => name !== "window")) {
    return { query: null, invalid: [{ name: "(unknown)", detail: "expected only window" }] };
  }
  const parsed = parseTrendingQuery(search);
  if (parsed.query === null) return parsed;
  return { query: { region, window: names.length === 0 ? undefined : parsed.query.window }, invalid: null };
}

/** The one URL of an export. It is a cache key. */
export function exportUrl({ region, window }: ExportQuery): string {
  return `/api/export/${region}.ndjson${window === undefined ? "" : `?window=${window}`}`;
}
