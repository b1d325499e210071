import * as z from "zod/mini";
import {
  choiceOf,
  defaultWindow,
  describeWindows,
  kindOf,
  type ListKind,
  listKinds,
  listLengths,
  listName,
  type Window,
  windows,
} from "./lists.ts";
import {
  allPageLanguages,
  type FeedForm,
  findPageLanguage,
  frameSizes,
  listUrl,
  type PageQuery,
} from "./page.ts";
import { explanationPath, pageParameters, paths } from "./paths.ts";
import type { ProblemExtras, ProblemKind } from "./problem.ts";
import { defaultRegion, findRegion, regionCodes } from "./regions.ts";
import type { TokenList } from "./token.ts";

const limitExpected = `expected a whole number from 1 to ${listLengths.largestPage}`;
const onceExpected = "expected at most once";
const cursorExpected = "expected the cursor of `next`";
const patterns = {
  category: /^.{1,60}$/su,
  language: /^[a-z]{2,3}$/,
  cursor: /^[1-9][0-9]{0,14}-(0|[1-9][0-9]{0,5})$/,
};

/**
 * What an item of a page has, besides the default: little of it, as a phone wants it, or its growth as well, for charts.
 * Named shapes, and no choice of single fields: each is a response to be built and cached.
 */
export const fieldSets = ["snippet", "chart"] as const;

/** The full hours that a sparkline covers. */
export const sparklineHours = 24;

/** The parameters of /api/trending. */
export type TrendingQuery = {
  region: string;
  window: Window;
  category?: string | undefined;
  language?: string | undefined;
  audience?: string | undefined;
  live?: string | undefined;
  duration?: string | undefined;
  titles?: string | undefined;
  fields?: (typeof fieldSets)[number] | undefined;
  limit: number;
  cursor?: string | undefined;
};

/** What a parameter may be. Without `otherwise` it may be left out, and then is not there. */
type Rule = {
  isValid: (value: unknown) => boolean;
  expected: () => string;
  otherwise?: () => string | number;
};

const rules: Record<keyof TrendingQuery, Rule> = {
  region: { isValid: isRegion, expected: regionExpected, otherwise: () => defaultRegion },
  window: { ...oneOf(windows), otherwise: () => defaultWindow },
  category: matching(patterns.category, "expected a category of 1 to 60 characters"),
  language: matching(patterns.language, "expected the primary subtag of a language, such as de"),
  audience: oneOf(listKinds.audience),
  live: oneOf(listKinds.live),
  duration: oneOf(listKinds.duration),
  titles: { isValid: (tag) => findPageLanguage(tag as string) !== undefined, expected: pageLanguageExpected },
  fields: oneOf(fieldSets),
  limit: { isValid: isLimit, expected: () => limitExpected, otherwise: () => listLengths.defaultPage },
  cursor: matching(patterns.cursor, cursorExpected),
};

function matching(pattern: RegExp, expected: string): Rule {
  const isValid = (value: unknown) => typeof value === "string" && pattern.test(value);
  return { isValid, expected: () => expected };
}

function oneOf(values: readonly unknown[]): Rule {
  return {
    isValid: (value) => values.includes(value),
    expected: () => `expected one of ${values.join(", ")}`,
  };
}

function pageLanguageExpected(): string {
  return `expected one of ${allPageLanguages().join(", ")}`;
}

function isLimit(limit: unknown): boolean {
  return Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= listLengths.largestPage;
}

/** What `region` may be. */
function regionExpected(): string {
  return `expected one of ${regionCodes.join(", ")}`;
}

function isRegion(code: unknown): boolean {
  return findRegion(code as string) !== undefined;
}

/** Why a parameter was refused. `detail` says what is allowed and repeats nothing of the request. */
export type InvalidParameter = { name: string; detail: string };

type ParsedTrendingQuery =
  | { query: TrendingQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/** Reads a query string ("region=de&limit=24", with or without "?"). Unknown, repeated and bad parameters are refused. */
export function parseTrendingQuery(search: string): ParsedTrendingQuery {
  const values: Record<string, string | number> = {};
  const invalid: InvalidParameter[] = [];
  for (const [name, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(rules, name)) invalid.push(unknownParameter());
    else if (Object.hasOwn(values, name)) invalid.push({ name, detail: onceExpected });
    else values[name] = typed(name, text);
  }
  const refused = applyRules(values);
  const query = values as TrendingQuery; // where none is refused
  invalid.push(...(refused.length > 0 ? refused : contradictionsOf(query)));
  const [first, ...rest] = invalid;
  return first === undefined ? { query, invalid: null } : { query: null, invalid: [first, ...rest] };
}

/** Adds what was left out to the values, and gives those that are refused. */
function applyRules(values: Record<string, string | number>): InvalidParameter[] {
  const refused: InvalidParameter[] = [];
  for (const [name, { isValid, expected, otherwise }] of Object.entries(rules)) {
    const value = values[name] ?? otherwise?.();
    if (value === undefined) continue;
    values[name] = value;
    if (!isValid(value)) refused.push({ name, detail: expected() });
  }
  return refused;
}

/** The one URL of a query: fixed order, defaults left out except the region. It is a cache key. */
export function trendingUrl(query: TrendingQuery): string {
  const { region, window, category, language, audience, live, duration, titles, fields, limit, cursor } =
    query;
  const choice = { window, category, language, audience, live, duration, titles, fields, limit, cursor };
  return listUrl(paths.trending, region, choice);
}

/** A page begins after a rank of a generation, so that the pages of one list stay together. */
export type PageStart = { generation: number; afterRank: number };

export function writeCursor(start: PageStart): string {
  return `${start.generation}-${start.afterRank}`;
}

/** Reads a cursor that TrendingQuery has accepted. @throws Error for any other text */
export function readCursor(cursor: string): PageStart {
  const [generation, afterRank] = cursor.split("-").map(Number);
  if (generation === undefined || afterRank === undefined) throw new Error("Cannot read an unchecked cursor");
  return { generation, afterRank };
}

/** What each parameter may be, but not with the others. */
function contradictionsOf(query: TrendingQuery): InvalidParameter[] {
  const { category } = query;
  const invalid: InvalidParameter[] = [];
  let first = category === undefined ? null : "category";
  for (const name in listKinds) {
    if (query[name as ListKind] === undefined) continue;
    if (first !== null) invalid.push({ name, detail: `expected without ${first}` });
    first ??= name;
  }
  if (category !== undefined && kindOf(choiceOf(category)) !== null) {
    invalid.push({ name: "category", detail: "expected the name of a category" });
  }
  if (!isPageStart(query)) invalid.push({ name: "cursor", detail: cursorExpected });
  return invalid;
}

// `next` leads from page to page of one length, and no further than a list can be.
function isPageStart(query: TrendingQuery): boolean {
  const { limit, cursor } = query;
  if (cursor === undefined) return true;
  const { afterRank } = readCursor(cursor);
  const longest = listLengths.longest[listName(query) === "" ? "all" : "category"];
  return afterRank % limit === 0 && afterRank < longest;
}

// Query strings carry text only. What is not of the expected form stays text, and the schema refuses it.
function typed(name: string, text: string): string | number {
  if (name === "limit" && /^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  if (name === "region" && /^[a-z]{2}$/i.test(text)) return text.toUpperCase();
  if (name === "language" && /^[a-z]{2,3}$/i.test(text)) return text.toLowerCase();
  return text;
}

// The name is not repeated: it is free text of the client.
function unknownParameter(allowed = Object.keys(rules)): InvalidParameter {
  return { name: "(unknown)", detail: `expected only ${allowed.join(", ")}` };
}

/** The schemas of the queries for OpenAPI: all in this function, since the edge's bundle leaves out what it does not call. */
export function describeQueries() {
  // The parser is without these: they would be 15 KB of the edge's bundle, and a millisecond of an origin's start.
  const region = z._default(z.enum(regionCodes), defaultRegion);
  const limit = z._default(
    z.int().check(z.minimum(1), z.maximum(listLengths.largestPage)),
    listLengths.defaultPage,
  );
  const window = z._default(z.enum(windows), defaultWindow);
  const fields = z.optional(z.enum(fieldSets));
  const titles = z.optional(z.enum(allPageLanguages()));
  const text = (pattern: RegExp) => z.optional(z.string().check(z.regex(pattern)));
  const category = text(patterns.category);
  const language = text(patterns.language);
  const audience = z.optional(z.enum(listKinds.audience));
  const live = z.optional(z.enum(listKinds.live));
  const duration = z.optional(z.enum(listKinds.duration));
  const cursor = text(patterns.cursor);
  const kinds = { language, audience, live, duration };
  const described = z.strictObject({ region, window, category, ...kinds, titles, fields, limit, cursor });
  const { shape } = described.def;
  const descriptions: Record<keyof typeof shape, string> = {
    region: "The region, ISO 3166-1 alpha-2, in upper or lower case",
    window: describeWindows(),
    category: "One of the categories that /api/regions lists; without it, the list over all categories",
    language:
      "The primary subtag of a language (BCP 47): videos in it, in all its regional variants (RFC 4647, basic filtering). One that /api/regions lists for the region; not beside `category`",
    audience:
      "`kids`: videos made for children, of which no impression is counted. As `live` and `duration`, where /api/regions lists it for the region, and alone",
    live: "`now`: what is on air",
    duration: "`short`: less than 4 minutes, `long`: more than 20; not of what is live",
    titles:
      "A language of the page: titles are in it where a video has one or is in it; others, and without it all, are as the region has them",
    fields:
      "What an item has: snippet = only id, rank, title, channel, thumbs and url; chart = everything, and a sparkline; without it, everything but the sparkline",
    limit: "The most items on a page",
    cursor: "The cursor in `next` of the previous page",
  };
  for (const name of Object.keys(shape) as (keyof typeof shape)[]) {
    z.globalRegistry.add(shape[name], { description: descriptions[name] });
  }
  return { trending: described, explain: z.strictObject({ region: shape.region, window: shape.window }) };
}

/** A list with the language that its page is in. */
type ParsedPageQuery =
  | { query: TrendingQuery & PageQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/**
 * Reads the query string of a page: its own parameters as strictly as those of a list. Others are left out, since sites
 * and mail programs add theirs to the links that people share; the canonical URL has none of them.
 */
export function parsePageQuery(search: string): ParsedPageQuery {
  const parameters = new URLSearchParams(search);
  const [lang, ...more] = parameters.getAll("lang");
  parameters.delete("lang");
  for (const name of [...parameters.keys()]) if (!pageParameters.includes(name)) parameters.delete(name);
  if (more.length > 0) return { query: null, invalid: [{ name: "lang", detail: onceExpected }] };
  if (lang !== undefined && findPageLanguage(lang) === undefined) {
    return { query: null, invalid: [{ name: "lang", detail: pageLanguageExpected() }] };
  }
  const parsed = parseTrendingQuery(parameters.toString());
  return parsed.query === null ? parsed : { query: { ...parsed.query, lang }, invalid: null };
}

/** The same of an embedded page, which is of a list's first ranks. */
export function parseEmbedQuery(search: string): ParsedPageQuery {
  const parameters = new URLSearchParams(search);
  parameters.delete("cursor");
  return parsePageQuery(parameters.toString());
}

/** A page that is asked for: `site` is where, like https://trending.example.com, `search` its query, `size` the frame's. */
type OembedRequest =
  | { site: string; search: string; size: number; refused: null }
  | { refused: { kind: ProblemKind; invalid: InvalidParameter[] } };

/**
 * What a request of oEmbed (oembed.com, section 2.2) is for: the page that `url` names, and the largest frame that there
 * is room for. Other parameters are left out: consumers add some.
 */
export function readOembed(search: string): OembedRequest {
  const asked = new URLSearchParams(search);
  const room = ["maxwidth", "maxheight"].map((name) => Number.parseInt(asked.get(name) ?? "", 10));
  const most = Math.min(...room.filter((pixels) => !Number.isNaN(pixels)));
  const size = frameSizes.find((one) => one <= most) ?? frameSizes[2];
  if ((asked.get("format") ?? "json") !== "json")
    return { refused: { kind: "not-implemented", invalid: [{ name: "format", detail: "expected json" }] } };
  const url = asked.get("url") ?? "";
  const page = /^https?:\/\/[\w.-]+(?::\d+)?(?:\/(?:embed)?)?(?:\?([^#]*))?(?:#.*)?$/i.exec(url);
  if (page === null || !URL.canParse(url))
    return { refused: { kind: "invalid-parameter", invalid: [noPageUrl] } };
  return { site: `https://${new URL(url).host}`, search: page[1] ?? "", size, refused: null };
}

const noPageUrl: InvalidParameter = { name: "url", detail: "expected the address of a page, / or /embed" };

/** Which feed a path names. */
type FeedAddress = { region: TrendingQuery["region"]; form: FeedForm };

/** A feed: the longest first page of a list, in one form. */
export type FeedQuery = TrendingQuery & { form: FeedForm };

/** The feed that a path names, such as /feeds/PL.atom, or null when it names none. */
export function feedAt(path: string): FeedAddress | null {
  const [, code, form] = /^\/feeds\/([A-Za-z]{2})\.(json|atom)$/.exec(path) ?? [];
  const region = regionCodes.find((known) => known === code?.toUpperCase());
  return region === undefined ? null : { region, form: form as FeedForm };
}

/** Reads the query string of what has only these parameters of a list. */
function parseOnly(search: string, names: string[]): ParsedTrendingQuery {
  return [...new URLSearchParams(search).keys()].every((name) => names.includes(name))
    ? parseTrendingQuery(search)
    : { query: null, invalid: [unknownParameter(names)] };
}

type ParsedFeedQuery =
  | { query: FeedQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/** Reads the query string of a feed, as strictly as that of a list: it selects a window, and a category or kind. */
export function parseFeedQuery({ region, form }: FeedAddress, search: string): ParsedFeedQuery {
  const parsed = parseOnly(search, ["window", "category", "audience", "live", "duration"]);
  if (parsed.query === null) return parsed;
  return { query: { ...parsed.query, region, form, limit: listLengths.largestPage }, invalid: null };
}

/** Reads the query string of an explanation, as strictly as that of a list. */
export function parseExplainQuery(search: string): ParsedTrendingQuery {
  return parseOnly(search, ["region", "window"]);
}

/** The one URL of an explanation: the default window left out. It is a cache key. */
export function explanationUrl(
  id: string,
  { region, window }: Pick<TrendingQuery, "region" | "window">,
): string {
  return `${explanationPath(id)}?region=${region}${window === defaultWindow ? "" : `&window=${window}`}`;
}

/** What is exported: a region's lists over all categories, of one window, or of all without it. */
type ExportQuery = { region: TrendingQuery["region"]; window: Window | undefined };

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
  const parsed = parseOnly(search, ["window"]);
  if (parsed.query === null) return parsed;
  return {
    query: { region, window: new URLSearchParams(search).has("window") ? parsed.query.window : undefined },
    invalid: null,
  };
}

/** The one URL of an export. It is a cache key. */
export function exportUrl({ region, window }: ExportQuery): string {
  return `/api/export/${region}.ndjson${window === undefined ? "" : `?window=${window}`}`;
}

/** What a list's pages have in common: which generation it is of, and how many ranks it has. */
type ListExtent = { generation: number; total: number };

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

/** Why there is no such list, in the words that origin and edge share. */
export type ListRefusal = { kind: ProblemKind; detail: string; extras: ProblemExtras };

/** Why something does not exist, in the words that origin and edge share. */
export const missing = {
  page: "The list ends before this page.",
  video: "No such video.",
  asset: "No such asset: its page is of another version.",
  publicUrl: "The site has no such page, or no public_url.",
  explanation: "Nothing is known of this video in this region.",
} as const;

export const listRefusals = {
  /** `categories` are those that there are now. */
  unknownCategory: (categories: Iterable<string>) => unlisted("category", categories),
  /** Null where a list by kind is among those of the region now, or the query is for none; `valuesOf` gives them. */
  unlistedKind(query: TrendingQuery, valuesOf: (kind: ListKind) => Iterable<string>): ListRefusal | null {
    const by = kindOf(query);
    const values = by === null ? [] : [...valuesOf(by.kind)];
    return by === null || values.includes(by.value) ? null : unlisted(by.kind, values);
  },
  generationGone({ cursor: _, ...query }: TrendingQuery): ListRefusal {
    const detail = "The generation of this cursor was deleted.";
    return { kind: "generation-gone", detail, extras: { restart: trendingUrl(query) } };
  },
};

function unlisted(name: string, values: Iterable<string>): ListRefusal {
  const known = [...values].sort().join(", ");
  const detail = `expected ${known === "" ? "none" : `one of ${known}`}`;
  return {
    kind: "invalid-parameter",
    detail: `${name}: ${detail}`,
    extras: { invalid: [{ name, detail }] },
  };
}
