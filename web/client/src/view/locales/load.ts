import type { PageLanguage } from "@trendvault/contract/page";
import type { ListMessages } from "./locale.ts";

/** Loads the words of a list in one language. */
export async function loadListMessages(language: PageLanguage): Promise<ListMessages> {
  return (await loaders[language]()).default;
}

// Of a file, locale-parts.ts makes two where browsers load them. What runs without a build has all words in both.
const loaders: Record<PageLanguage, () => Promise<{ default: ListMessages }>> = {
  en: () => import("./en.json?list"),
  de: () => import("./de.json?list"),
  fr: () => import("./fr.json?list"),
  es: () => import("./es.json?list"),
  it: () => import("./it.json?list"),
  nl: () => import("./nl.json?list"),
  pl: () => import("./pl.json?list"),
  sv: () => import("./sv.json?list"),
  pt: () => import("./pt.json?list"),
  da: () => import("./da.json?list"),
  cs: () => import("./cs.json?list"),
  ar: () => import("./ar.json?list"),
};
