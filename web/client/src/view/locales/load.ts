import type { PageLanguage } from "@trendvault/contract/page";
import type { Messages } from "./locale.ts";

/** Loads the messages of one language. */
export async function loadMessages(language: PageLanguage): Promise<Messages> {
  return (await loaders[language]()).messages;
}

const loaders: Record<PageLanguage, () => Promise<{ messages: Messages }>> = {
  en: () => import("./en.ts"),
  de: () => import("./de.ts"),
  fr: () => import("./fr.ts"),
  es: () => import("./es.ts"),
  it: () => import("./it.ts"),
  nl: () => import("./nl.ts"),
  pl: () => import("./pl.ts"),
  sv: () => import("./sv.ts"),
  pt: () => import("./pt.ts"),
  da: () => import("./da.ts"),
  cs: () => import("./cs.ts"),
};
