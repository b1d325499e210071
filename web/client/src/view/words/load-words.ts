import type { Language, Words } from "./words.ts";

/** Loads the words of one language. */
export async function loadWords(language: Language): Promise<Words> {
  return (await loaders[language]()).words;
}

const loaders: Record<Language, () => Promise<{ words: Words }>> = {
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
