import { pageLanguages } from "./languages.ts";
import type { PageQuery } from "./page-url.ts";
import { pageParameters } from "./paths.ts";
import { type InvalidParameter, parseTrendingQuery, type TrendingQuery } from "./trending-query.ts";

/** A list with the language that its page is in. */
export type ParsedPageQuery =
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
  const isLanguage = lang === undefined || pageLanguages.has(lang);
  if (!isLanguage || more.length > 0) return { query: null, invalid: [unknownLanguage] };
  const parsed = parseTrendingQuery(parameters.toString());
  return parsed.query === null ? parsed : { query: { ...parsed.query, lang }, invalid: null };
}

const unknownLanguage: InvalidParameter = {
  name: "lang",
  detail: `expected one of ${[...pageLanguages].join(", ")}`,
};
