import * as z from "zod/mini";
import { defaultLimit, largestLimit, longestList, type Window, windows } from "./list-bounds.ts";
import { choiceOf } from "./list-name.ts";
import { defaultRegion, findRegion, regionCodes } from "./regions.ts";

export { defaultLimit, largestLimit, longestList, type Window, windows };

/** What `limit` may be. */
export const limitExpected = `expected a whole number from 1 to ${largestLimit}`;
const languageExpected =
  "expected the primary subtag of a language (BCP 47) alone, such as de, which stands for de-AT, too";
const cursorExpected = "expected the cursor in `next` of a page, unchanged";
const cursorPattern = /^[1-9][0-9]{0,14}-(0|[1-9][0-9]{0,5})$/;

/**
 * What an item of a page has, besides the default: little of it, as a phone wants it, or its growth as well, for charts.
 * Named shapes, and no choice of single fields: each is a response to be built and cached.
 */
export const fieldSets = ["snippet", "chart"] as const;

/** The full hours that a sparkline covers. */
export const sparklineHours = 24;

/** The parameters of /api/trending. The OpenAPI document is made from this schema as well. */
export const TrendingQuery = z.strictObject({
  region: z._default(z.string().check(z.refine(isRegion, { error: regionExpected })), () => defaultRegion),
  window: z._default(z.enum(windows, { error: `expected one of ${windows.join(", ")}` }), "day"),
  category: z.optional(
    z.string().check(z.regex(/^.{1,60}$/su, { error: "expected a category of 1 to 60 characters" })),
  ),
  language: z.optional(z.string().check(z.regex(/^[a-z]{2,3}$/, { error: languageExpected }))),
  fields: z.optional(z.enum(fieldSets, { error: `expected one of ${fieldSets.join(", ")}` })),
  limit: z._default(
    z.int({ error: limitExpected }).check(z.minimum(1), z.maximum(largestLimit)),
    defaultLimit,
  ),
  cursor: z.optional(z.string().check(z.regex(cursorPattern, { error: cursorExpected }))),
});
export type TrendingQuery = z.infer<typeof TrendingQuery>;

/** What `region` may be. */
export function regionExpected(): string {
  return `expected one of ${regionCodes.join(", ")}`;
}

function isRegion(code: string): boolean {
  return findRegion(code) !== undefined;
}

/** Why a parameter was refused. `detail` says what is allowed and repeats nothing of the request. */
export type InvalidParameter = { name: string; detail: string };

export type ParsedTrendingQuery =
  | { query: TrendingQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/** Reads a query string ("region=de&limit=24", with or without "?"). Unknown, repeated and bad parameters are refused. */
export function parseTrendingQuery(search: string): ParsedTrendingQuery {
  const values: Record<string, string | number> = {};
  const invalid: InvalidParameter[] = [];
  for (const [name, text] of new URLSearchParams(search)) {
    if (!Object.hasOwn(TrendingQuery.def.shape, name)) invalid.push(unknownParameter());
    else if (Object.hasOwn(values, name)) invalid.push({ name, detail: "expected at most once" });
    else values[name] = typed(name, text);
  }
  const parsed = TrendingQuery.safeParse(values);
  if (!parsed.success) invalid.push(...parsed.error.issues.map(asInvalidParameter));
  else invalid.push(...contradictionsOf(parsed.data));
  const [first, ...rest] = invalid;
  if (parsed.success && first === undefined) return { query: parsed.data, invalid: null };
  return { query: null, invalid: [first ?? unknownParameter(), ...rest] };
}

/** The one URL of a query: fixed order, defaults left out except the region. It is a cache key. */
export function trendingUrl(query: TrendingQuery): string {
  let url = `/api/trending?region=${query.region}`;
  if (query.window !== "day") url += `&window=${query.window}`;
  if (query.category !== undefined) url += `&category=${encodeQueryValue(query.category)}`;
  if (query.language !== undefined) url += `&language=${query.language}`;
  if (query.fields !== undefined) url += `&fields=${query.fields}`;
  if (query.limit !== defaultLimit) url += `&limit=${query.limit}`;
  if (query.cursor !== undefined) url += `&cursor=${query.cursor}`;
  return url;
}

// fetch() and URL write an apostrophe of a query as %27 (WHATWG URL, special-query percent-encode set), which
// encodeURIComponent leaves as it is: a signed or cached target must be what is sent.
function encodeQueryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
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
  const { category, language } = query;
  const invalid: InvalidParameter[] = [];
  if (category !== undefined && language !== undefined) {
    invalid.push({ name: "language", detail: "expected without category: no list is of both" });
  }
  if (choiceOf(category ?? "").language !== undefined) {
    invalid.push({ name: "category", detail: "expected the name of a category" });
  }
  if (!isPageStart(query)) invalid.push({ name: "cursor", detail: cursorExpected });
  return invalid;
}

// `next` leads from page to page of one length, and no further than a list can be.
function isPageStart({ category, language, limit, cursor }: TrendingQuery): boolean {
  if (cursor === undefined) return true;
  const { afterRank } = readCursor(cursor);
  const longest = longestList[(category ?? language) === undefined ? "all" : "category"];
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
function unknownParameter(): InvalidParameter {
  const allowed = Object.keys(TrendingQuery.def.shape).join(", ");
  return { name: "(unknown)", detail: `expected only ${allowed}` };
}

function asInvalidParameter(issue: { path: PropertyKey[]; message: string }): InvalidParameter {
  return { name: String(issue.path[0]), detail: issue.message };
}
