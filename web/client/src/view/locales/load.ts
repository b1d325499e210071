import type { PageLanguage } from "@trendvault/contract/page";
import type { Messages } from "./locale.ts";

/** Loads the messages of one language. */
export async function loadMessages(language: PageLanguage): Promise<Messages> {
  return (await loaders[language]()).default;
}

const loaders: Record<PageLanguage, () => Promise<{ default: Messages }>> = {
  en: () => import("./en.json"),
  de: () => import("./de.json"),
  fr: () => import("./fr.json"),
  es: () => import("./es.json"),
  it: () => import("./it.json"),
  nl: () => import("./nl.json"),
  pl: () => import("./pl.json"),
  sv: () => import("./sv.json"),
  pt: () => import("./pt.json"),
  da: () => import("./da.json"),
  cs: () => import("./cs.json"),
};
