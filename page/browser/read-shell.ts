import { mainLanguage } from "@trendvault/contract/languages";
import type { PageQuery } from "@trendvault/contract/page-url";
import { formatsOf } from "../../client/src/view/formats.ts";
import { loadWords } from "../../client/src/view/words/load-words.ts";
import { languages } from "../../client/src/view/words/words.ts";
import type { Shell } from "../page-model.ts";

/** What the origin says of every page: it does not depend on the list. */
export type PageData = Pick<Shell, "categories" | "thumbHosts" | "sendsViews">;

/** What a page's URL names. `region` is the one of the page that is shown, for a URL without one. */
export function readQuery({ searchParams }: URL, region: string): PageQuery {
  const value = (name: string) => searchParams.get(name) ?? undefined;
  return {
    region: value("region")?.toUpperCase() ?? region,
    window: value("window") ?? "day",
    category: value("category"),
    lang: value("lang"),
  };
}

/** What the pickers and the foot of a page are made from. Loads the words of its language. */
export async function readShell(query: PageQuery, data: PageData): Promise<Shell> {
  const wanted = query.lang ?? mainLanguage(query.region);
  const language = languages.find((known) => known === wanted) ?? "en";
  return { ...data, query, language, words: await loadWords(language), formats: formatsOf(language) };
}
