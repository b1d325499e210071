import { unexpectedParameter } from "@trendvault/contract/http";
import { defaultLimit, longestList } from "@trendvault/contract/lists";
import { feedUrl, type PageQuery, pageUrl } from "@trendvault/contract/page";
import { explainedIdAt, isAssetPath, pagePath, trendingPath, videoIdAt } from "@trendvault/contract/paths";
import {
  type ExportQuery,
  explanationUrl,
  exportedRegionAt,
  exportUrl,
  type FeedAddress,
  feedAt,
  type InvalidParameter,
  parseExplainQuery,
  parseExportQuery,
  parseFeedQuery,
  parsePageQuery,
  parseTrendingQuery,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/queries";
import { canonicalPath } from "./paths.ts";
import { regionForCountry } from "./region-for-country.ts";

/**
 * What a request is for. `target` is the canonical path and query, the only cache key. A list's always names the
 * region, so that one visitor's region never becomes another's.
 */
export type CanonicalRequest = {
  target: string;
  /** The parameters of a list, or of a list's page; null for a document, which has only its path. */
  query: (TrendingQuery & Pick<PageQuery, "lang">) | null;
  /** Whether the visitor's country chose the region, because the URL does not name one. */
  regionFromCountry: boolean;
};

type ListQuery = NonNullable<CanonicalRequest["query"]>;

export type CanonicalizeResult =
  | { canonical: CanonicalRequest; invalid: null }
  | { canonical: null; invalid: InvalidParameter[] };

/** Canonicalizes a served path and its query, with the origin's own parser. `country` is `request.cf.country`. */
export function canonicalize(
  { pathname, search }: Pick<URL, "pathname" | "search">,
  country?: string,
): CanonicalizeResult {
  if (pathname === trendingPath) return canonicalizeList(search, country, parseTrendingQuery, trendingUrl);
  if (pathname === pagePath) return canonicalizeList(search, country, parsePageQuery, pageUrl);
  const feed = feedAt(pathname);
  if (feed !== null) return canonicalizeFeed(feed, search);
  const exported = exportedRegionAt(pathname);
  if (exported !== null) return canonicalizeExport(exported, search);
  const explained = explainedIdAt(pathname);
  if (explained !== null) return canonicalizeExplanation(explained, search, country);
  if (search !== "") return { canonical: null, invalid: [unexpectedParameter] };
  return {
    canonical: { target: canonicalPath(pathname) ?? pathname, query: null, regionFromCountry: false },
    invalid: null,
  };
}

/** Whether a request is for the page of a list, for people. */
export function isPage({ target }: CanonicalRequest): boolean {
  return target.startsWith("/?");
}

/** Whether a request is for a list as visitors see it: feeds and exports have no token. */
export function isList(request: CanonicalRequest): boolean {
  return isPage(request) || request.target.startsWith(`${trendingPath}?`);
}

/** Whether a query is for a list's first page as most visitors want it: all videos, the default length and fields. */
export function isFrontPage({ category, language, fields, lang, limit, cursor }: ListQuery): boolean {
  return (category ?? language ?? fields ?? lang ?? cursor) === undefined && limit === defaultLimit;
}

/** Whether what is requested may not exist (404): a video, an asset, or a page past the end of a list. */
export function mayBeMissing({ query, target }: CanonicalRequest): boolean {
  if (query !== null) return query.cursor !== undefined;
  const [path = ""] = target.split("?");
  return (videoIdAt(path) ?? explainedIdAt(path)) !== null || isAssetPath(target);
}

/** The target for the log: without the category, which is whatever a visitor has typed. */
export function redactedTarget({ target }: CanonicalRequest): string {
  return target.replace(/category=[^&]*/, "category=(hidden)");
}

function canonicalizeFeed(address: FeedAddress, search: string): CanonicalizeResult {
  const { query, invalid } = parseFeedQuery(address, search);
  if (query === null) return { canonical: null, invalid };
  return { canonical: { query, target: feedUrl(query), regionFromCountry: false }, invalid };
}

function canonicalizeExport(region: ExportQuery["region"], search: string): CanonicalizeResult {
  const { query, invalid } = parseExportQuery(region, search);
  if (query === null) return { canonical: null, invalid };
  const list = { region, window: query.window ?? "day", limit: longestList.all } as const;
  return { canonical: { query: list, target: exportUrl(query), regionFromCountry: false }, invalid: null };
}

function canonicalizeList(
  search: string,
  country: string | undefined,
  parse: typeof parsePageQuery,
  urlOf: (query: TrendingQuery) => string,
): CanonicalizeResult {
  const parsed = parse(search);
  if (parsed.query === null) return { canonical: null, invalid: parsed.invalid };
  const regionFromCountry = !new URLSearchParams(search).has("region");
  const query = regionFromCountry ? { ...parsed.query, region: regionForCountry(country) } : parsed.query;
  return { canonical: { query, target: urlOf(query), regionFromCountry }, invalid: null };
}

function canonicalizeExplanation(
  id: string,
  search: string,
  country: string | undefined,
): CanonicalizeResult {
  const { canonical, invalid } = canonicalizeList(search, country, parseExplainQuery, (query) =>
    explanationUrl(id, query),
  );
  return canonical === null ? { canonical, invalid } : { canonical: { ...canonical, query: null }, invalid };
}
