import { mainLanguage, type PageQuery } from "@trendvault/contract/page";
import { useRegions } from "@trendvault/contract/regions";
import { formatsOf } from "../../client/src/view/formats.ts";
import { loadWords } from "../../client/src/view/words/load-words.ts";
import { languages } from "../../client/src/view/words/words.ts";
import type { PageData, Shell } from "../page-model.ts";

/** Takes over the regions of a deployment that has its own. They are named by Intl. */
export function useRegionsOf({ languages }: PageData): void {
  if (languages === undefined) return;
  const regions = Object.entries(languages).map(([code, language]) => ({
    ...{ code, name: code },
    languages: [language],
  }));
  useRegions({ default: regions[0]?.code ?? "", regions });
}

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
