import type { Language, Messages } from "./locale.ts";

/** Loads the messages of one language. */
export async function loadMessages(language: Language): Promise<Messages> {
  return (await loaders[language]()).messages;
}

const loaders: Record<Language, () => Promise<{ messages: Messages }>> = {
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
