import { unexpectedParameter } from "@trendvault/contract/http";
import {
  answerSeconds,
  defaultWindow,
  isFromFuture,
  listLengths,
  listName,
} from "@trendvault/contract/lists";
import { feedUrl, isEmbedUrl, oembedUrl, type PageQuery, pageUrl } from "@trendvault/contract/page";
import {
  explainedIdAt,
  explanationPath,
  isAssetPath,
  paths,
  videoIdAt,
  videoPath,
} from "@trendvault/contract/paths";
import { type ProblemKind, problemKinds, problemType } from "@trendvault/contract/problem";
import {
  explanationUrl,
  exportedRegionAt,
  exportUrl,
  feedAt,
  type InvalidParameter,
  parseEmbedQuery,
  parseExplainQuery,
  parseExportQuery,
  parseFeedQuery,
  parsePageQuery,
  parseTrendingQuery,
  readOembed,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/queries";
import { defaultRegion, regions } from "@trendvault/contract/regions";

// The cache's policy: under which key a response is kept, for which region, for how long, and when it may be served.

// --- The key

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
  /** Whether a signature says that there was such a list, whatever an index of before it says. */
  wasPublished?: boolean;
};

type Canonicalized =
  | { canonical: CanonicalRequest; invalid: null }
  | { canonical: null; invalid: InvalidParameter[]; kind?: ProblemKind };

/** The canonical path of what the origin serves at a path, or null when it serves nothing there. */
export function canonicalPath(pathname: string): string | null {
  if (documents.has(pathname) || isAssetPath(pathname)) return pathname;
  if (feedAt(pathname) !== null || exportedRegionAt(pathname) !== null) return pathname;
  const explained = explainedIdAt(pathname);
  if (explained !== null) return explanationPath(explained);
  const id = videoIdAt(pathname);
  return id === null ? null : videoPath(id);
}

const documents = new Set<string>([
  paths.page,
  paths.embed,
  paths.oembed,
  paths.trending,
  paths.regions,
  paths.openapi,
  paths.publicKeys,
  paths.about,
  paths.aboutPage,
  paths.docs,
  paths.serviceWorker,
  paths.robots,
  paths.sitemap,
  ...problemKinds.map(problemType),
]);

/**
 * The canonical form of a served path and its query, which the origin's own parser reads, or what is wrong with the
 * query. `country`: the visitor's (ISO 3166-1 alpha-2), as `request.cf.country` gives it; also "T1" for Tor, and "XX" or
 * undefined where it is not known.
 */
export function canonicalize(
  { pathname, search }: Pick<URL, "pathname" | "search">,
  country?: string,
): Canonicalized {
  if (pathname === paths.trending) return canonicalizeList(search, country, parseTrendingQuery, trendingUrl);
  if (pathname === paths.page) return canonicalizeList(search, country, parsePageQuery, pageUrl);
  if (pathname === paths.embed)
    return canonicalizeList(search, country, parseEmbedQuery, (query) => pageUrl(query, pathname));
  if (pathname === paths.oembed) return canonicalizeOembed(search, country);
  const feed = feedAt(pathname);
  if (feed !== null)
    return canonicalOf(parseFeedQuery(feed, search), (query) => ({ query, target: feedUrl(query) }));
  const region = exportedRegionAt(pathname);
  if (region !== null)
    return canonicalOf(parseExportQuery(region, search), (query) => {
      const list = { region, window: query.window ?? defaultWindow, limit: listLengths.longest.all };
      return { query: list, target: exportUrl(query) };
    });
  const explained = explainedIdAt(pathname);
  if (explained !== null) {
    const urlOf = (query: TrendingQuery) => explanationUrl(explained, query);
    const { canonical, invalid } = canonicalizeList(search, country, parseExplainQuery, urlOf);
    return canonical === null
      ? { canonical, invalid }
      : { canonical: { ...canonical, query: null }, invalid };
  }
  if (search !== "") return { canonical: null, invalid: [unexpectedParameter] };
  const target = canonicalPath(pathname) ?? pathname;
  return { canonical: { target, query: null, regionFromCountry: false }, invalid: null };
}

function canonicalizeOembed(search: string, country: string | undefined): Canonicalized {
  const asked = readOembed(search);
  if (asked.refused !== null) return { canonical: null, ...asked.refused };
  return canonicalizeList(asked.search, country, parseEmbedQuery, (query) => oembedUrl(query, asked));
}

function canonicalizeList(
  search: string,
  country: string | undefined,
  parse: typeof parsePageQuery,
  urlOf: (query: TrendingQuery) => string,
): Canonicalized {
  return canonicalOf(parse(search), (parsed) => {
    const regionFromCountry = !new URLSearchParams(search).has("region");
    const query = regionFromCountry ? { ...parsed, region: regionForCountry(country) } : parsed;
    return { query, target: urlOf(query), regionFromCountry };
  });
}

function canonicalOf<Query>(
  { query, invalid }: { query: Query; invalid: null } | { query: null; invalid: InvalidParameter[] },
  describe: (
    query: NonNullable<Query>,
  ) => Omit<CanonicalRequest, "regionFromCountry"> & Partial<CanonicalRequest>,
): Canonicalized {
  if (invalid !== null) return { canonical: null, invalid };
  return { canonical: { regionFromCountry: false, ...describe(query as NonNullable<Query>) }, invalid };
}

/** Of each country that is named in the table of regions: its region. Here and not in the contract: only the edge asks. */
const regionByCountry = new Map(
  regions.flatMap(({ code, countries = [] }) => [code, ...countries].map((country) => [country, code])),
);

function regionForCountry(country = ""): string {
  return regionByCountry.get(country) ?? defaultRegion;
}

// --- What is kept

/** Whether a request is for the page of a list, for people. */
export function isPage({ target }: CanonicalRequest): boolean {
  return target.startsWith("/?") || isEmbedUrl(target);
}

/** The URL of another page that is framed like the one that a request is for. */
export function pageLike({ target }: CanonicalRequest, query: PageQuery): string {
  return pageUrl(query, target.split("?")[0]);
}

/** Whether a request is for a list as visitors see it: feeds and exports have no token. */
export function isList(canonical: CanonicalRequest): boolean {
  return isPage(canonical) || canonical.target.startsWith(`${paths.trending}?`);
}

/** Whether what is requested may not exist (404): a video, an asset, a page past the end of a list, what needs public_url. */
export function mayBeMissing({ query, target }: CanonicalRequest): boolean {
  const [path = ""] = target.split("?");
  if (query?.cursor !== undefined || needsPublicUrl(path) || isAssetPath(path)) return true;
  return query === null && (videoIdAt(path) ?? explainedIdAt(path)) !== null;
}

function needsPublicUrl(path: string): boolean {
  return path === paths.oembed || path === paths.robots || path === paths.sitemap;
}

/**
 * The name of a front page among those that are kept for when all else fails; null for any other request. A front page
 * is a list's first one as most visitors want it: all videos, the default length and fields.
 */
export function frontPageName(canonical: CanonicalRequest): string | null {
  if (canonical.query === null) return null;
  const { region, window, titles, fields, lang, limit, cursor } = canonical.query;
  const isDefault = (titles ?? fields ?? lang ?? cursor) === undefined && limit === listLengths.defaultPage;
  if (!isDefault || listName(canonical.query) !== "") return null;
  if (/^\/o?embed/.test(canonical.target)) return null;
  return `${region}/${window}${isPage(canonical) ? "/page" : ""}`;
}

/** The target for the log: without the category and the page of oEmbed, which are whatever a visitor has typed. */
export function redactedTarget({ target }: CanonicalRequest): string {
  return target.replace(/(category|url)=[^&]*/, "$1=(hidden)");
}

// --- For how long

/** How long the origin allows a response to be used, in seconds. */
type Lifetimes = {
  maxAge: number;
  /** After that, while it is being revalidated (RFC 5861, section 3). */
  staleWhileRevalidate: number;
  /** After max-age, while the origin fails (RFC 5861, section 4). */
  staleIfError: number;
};

/** No response is used for longer, whatever the origin says; seconds. */
const longest: Lifetimes = { maxAge: 3600, staleWhileRevalidate: 3600, staleIfError: 86_400 };

/**
 * Reads the value of TrendVault-Cache-Control, a targeted field (RFC 9213). Null when it does not allow to store the
 * response.
 */
export function readLifetimes(field: string): Lifetimes | null {
  const parts = field.split(",").map((directive) => directive.trim().toLowerCase().split("="));
  const directives = new Map(parts.map(([name = "", value = ""]) => [name, value]));
  const maxAge = seconds(directives, "max-age");
  if (maxAge === null || ["no-store", "no-cache", "private"].some((name) => directives.has(name)))
    return null;
  const { staleWhileRevalidate, staleIfError } = longest;
  return {
    maxAge: Math.min(maxAge, longest.maxAge),
    staleWhileRevalidate: Math.min(seconds(directives, "stale-while-revalidate") ?? 0, staleWhileRevalidate),
    staleIfError: Math.min(seconds(directives, "stale-if-error") ?? 0, staleIfError),
  };
}

function seconds(directives: Map<string, string>, name: string): number | null {
  const text = directives.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** How long a response with these lifetimes can be of any use, counted from when it was fetched. */
export function usableSeconds({ maxAge, staleWhileRevalidate, staleIfError }: Lifetimes): number {
  return maxAge + Math.max(staleWhileRevalidate, staleIfError);
}

/**
 * Cache-Control for browsers. Ours, not the origin's: a browser may use every response for half a minute from now, as
 * long as it is of any use. (It subtracts Age.) The response to a URL without a region depends on the client's country:
 * no shared cache may store it.
 */
export function browserCacheControl(
  lifetimes: Lifetimes,
  { regionFromCountry, age }: { regionFromCountry: boolean; age: number },
): string {
  const left = Math.max(0, usableSeconds(lifetimes) - age);
  const fresh = Math.min(browserSeconds(lifetimes), left);
  const stale = Math.min(answerSeconds.browserStale, left - fresh);
  const scope = regionFromCountry ? "private" : "public";
  return `${scope}, max-age=${age + fresh}, stale-while-revalidate=${stale}`;
}

/** How long a browser may use a response that it has just got. */
function browserSeconds({ maxAge }: Lifetimes): number {
  return Math.min(maxAge, answerSeconds.browserFresh);
}

// --- Whether it is fresh

/**
 * fresh: serve. stale: serve, and revalidate in the background. expired: ask the origin first, and serve only if
 * that fails. unusable: do not serve.
 */
type Freshness = "fresh" | "stale" | "expired" | "unusable";

/** The times of a stored response, in Unix seconds. */
type StoredTimes = { generatedAt: number; fetchedAt: number; lifetimes: Lifetimes };

/**
 * The end of staleness is counted from the fetch: the token in the body was made then, and must not expire
 * (15 minutes) before the response does. A time of the future, by a clock that was ahead or is behind, says nothing about
 * age; such a response is better than none, for as long as one that is old.
 */
export function freshnessAt(now: number, response: StoredTimes): Freshness {
  const { fetchedAt, lifetimes } = response;
  if (isFromFuture(fetchedAt, now)) return fetchedAt - now < lifetimes.staleIfError ? "expired" : "unusable";
  const staleSince = fetchedAt + lifetimes.maxAge;
  if (now < freshUntil(response)) return "fresh";
  if (now < staleSince + lifetimes.staleWhileRevalidate) return "stale";
  if (now < staleSince + lifetimes.staleIfError) return "expired";
  return "unusable";
}

/**
 * The end of freshness, in Unix seconds. It is counted from when the ranking was made, which was before it was fetched,
 * whatever the writer's clock said: counted from when it was fetched, every cache on the way would add its lifetime to
 * the list's age. But the newest ranking may be old, when the writer has stopped; then the origin is asked again no
 * sooner than a browser would ask.
 */
export function freshUntil({ generatedAt, fetchedAt, lifetimes }: StoredTimes): number {
  return Math.max(Math.min(generatedAt, fetchedAt) + lifetimes.maxAge, fetchedAt + browserSeconds(lifetimes));
}

/**
 * The stored response, where it may be served. One that may not sets no limit to what comes after it either: a database
 * restored from a backup is older, and right.
 */
export function onlyUsable<Stored extends StoredTimes>(stored: Stored | null, now: number): Stored | null {
  return stored !== null && freshnessAt(now, stored) !== "unusable" ? stored : null;
}

/**
 * The stored response, where answers are to be monotonic: none may be older than it. A time of the future says nothing
 * about age: what was stored by a clock that was ahead is served, but newer answers are not compared with it.
 */
export function onlyMonotonic<Stored extends StoredTimes>(stored: Stored | null, now: number): Stored | null {
  return stored !== null && isFromFuture(stored.fetchedAt, now) ? null : stored;
}
