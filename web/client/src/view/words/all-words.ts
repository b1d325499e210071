import { words as cs } from "./cs.ts";
import { words as da } from "./da.ts";
import { words as de } from "./de.ts";
import { words as en } from "./en.ts";
import { words as es } from "./es.ts";
import { words as fr } from "./fr.ts";
import { words as it } from "./it.ts";
import { words as nl } from "./nl.ts";
import { words as pl } from "./pl.ts";
import { words as pt } from "./pt.ts";
import { words as sv } from "./sv.ts";
import type { Language, Words } from "./words.ts";

/** The words of every language, for who writes pages in all of them. Browsers load one language: load-words.ts. */
export const allWords: Readonly<Record<Language, Words>> = { en, de, fr, es, it, nl, pl, sv, pt, da, cs };
