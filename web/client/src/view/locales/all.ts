import type { PageLanguage } from "@trendvault/contract/page";
import { messages as cs } from "./cs.ts";
import { messages as da } from "./da.ts";
import { messages as de } from "./de.ts";
import { messages as en } from "./en.ts";
import { messages as es } from "./es.ts";
import { messages as fr } from "./fr.ts";
import { messages as it } from "./it.ts";
import type { Messages } from "./locale.ts";
import { messages as nl } from "./nl.ts";
import { messages as pl } from "./pl.ts";
import { messages as pt } from "./pt.ts";
import { messages as sv } from "./sv.ts";

/** The messages of every language, for programs that write pages in all of them. Browsers load one language: load.ts. */
export const allMessages: Readonly<Record<PageLanguage, Messages>> = {
  en,
  de,
  fr,
  es,
  it,
  nl,
  pl,
  sv,
  pt,
  da,
  cs,
};
