import type { PageLanguage } from "@trendvault/contract/page";
import { loadListMessages } from "./load.ts";
import type { ListMessages, PageMessages } from "./locale.ts";

/** Loads the words of a page. */
export async function loadMessages(language: PageLanguage): Promise<PageMessages> {
  const [ofList, ofPage] = await Promise.all([loadListMessages(language), loaders[language]()]);
  return { ...ofPage.default, ...ofList };
}

const loaders: Record<PageLanguage, () => Promise<{ default: Omit<PageMessages, keyof ListMessages> }>> = {
  en: () => import("./en.json?page"),
  de: () => import("./de.json?page"),
  fr: () => import("./fr.json?page"),
  es: () => import("./es.json?page"),
  it: () => import("./it.json?page"),
  nl: () => import("./nl.json?page"),
  pl: () => import("./pl.json?page"),
  sv: () => import("./sv.json?page"),
  pt: () => import("./pt.json?page"),
  da: () => import("./da.json?page"),
  cs: () => import("./cs.json?page"),
  ar: () => import("./ar.json?page"),
};
