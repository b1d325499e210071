import { mainLanguage } from "./languages.ts";
import { pagePath } from "./paths.ts";

/** What a page shows. `lang` is one of the languages of the page, and undefined for the region's main one. */
export type PageQuery = {
  region: string;
  window: string;
  category?: string | undefined;
  lang?: string | undefined;
  cursor?: string | undefined;
};

/** The one URL of a page: fixed order, defaults left out except the region. It is a cache key. */
export function pageUrl({ region, window, category, lang, cursor }: PageQuery): string {
  let url = `${pagePath}?region=${region}`;
  if (window !== "day") url += `&window=${window}`;
  if (category !== undefined) url += `&category=${encodeQueryValue(category)}`;
  if (lang !== undefined && lang !== mainLanguage(region)) url += `&lang=${lang}`;
  if (cursor !== undefined) url += `&cursor=${cursor}`;
  return url;
}

// As in trendingUrl.
function encodeQueryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}
