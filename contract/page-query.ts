import { pageLanguages } from "./languages.ts";
import type { PageQuery } from "./page-url.ts";
import { type InvalidParameter, parseTrendingQuery, type TrendingQuery } from "./trending-query.ts";

/** A list with the language that its page is in. */
export type ParsedPageQuery =
  | { query: TrendingQuery & PageQuery; invalid: null }
  | { query: null; invalid: [InvalidParameter, ...InvalidParameter[]] };

/** Reads the query string of a page, as strictly as that of a list: a page is a list of one length and form. */
export function parsePageQuery(search: string): ParsedPageQuery {
  const parameters = new URLSearchParams(search);
  const [lang, ...more] = parameters.getAll("lang");
  parameters.delete("lang");
  if (parameters.has("limit") || parameters.has("fields")) return { query: null, invalid: [unexpected] };
  const isLanguage = lang === undefined || pageLanguages.has(lang);
  if (!isLanguage || more.length > 0) return { query: null, invalid: [unknownLanguage] };
  const parsed = parseTrendingQuery(parameters.toString());
  return parsed.query === null ? parsed : { query: { ...parsed.query, lang }, invalid: null };
}

const unexpected: InvalidParameter = {
  name: "(unknown)",
  detail: "expected only region, window, category, lang, cursor",
};
const unknownLanguage: InvalidParameter = {
  name: "lang",
  detail: `expected one of ${[...pageLanguages].join(", ")}`,
};
