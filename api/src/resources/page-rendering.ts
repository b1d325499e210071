import { mainLanguage, type PageQuery } from "@trendvault/contract/page";
import type { Assets } from "@trendvault/page/manifest";
import { writePage } from "@trendvault/page/page-view";
import { formatsOf } from "../../../web/client/src/view/formats.ts";
import { allWords } from "../../../web/client/src/view/words/all-words.ts";
import { languages } from "../../../web/client/src/view/words/words.ts";
import type { WrittenPage } from "./trending-page.ts";

/** `json` is the list, with an empty token. */
type Input = {
  query: PageQuery;
  json: string;
  categories: readonly string[];
  assets: Assets;
  thumbHosts: readonly string[];
  policy: string;
  sendsViews: boolean;
};

/** Writes a page as HTML, but for the token in its data. */
export function writeHtmlPage({ query, json, ...others }: Input): WrittenPage {
  const wanted = query.lang ?? mainLanguage(query.region);
  const language = languages.find((known) => known === wanted) ?? "en";
  const html = writePage({
    ...{ query, language, words: allWords[language], formats: formatsOf(language) },
    ...{ json, list: JSON.parse(json) },
    ...others,
  });
  // No title can hold the beginning of this block: its "<" is escaped. In a title's JSON, quotes are escaped.
  const token = html.indexOf('"token":""', html.indexOf(dataStart)) + '"token":"'.length;
  const encoder = new TextEncoder();
  return { head: encoder.encode(html.slice(0, token)), tail: encoder.encode(html.slice(token)) };
}

const dataStart = '<script type="application/json" id="list-data">';
