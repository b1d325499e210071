import { loadWords } from "../client/src/view/words/load-words.ts";
import { languages } from "../client/src/view/words/words.ts";

const language = languages.find((known) => known === document.documentElement.lang) ?? "en";
void loadWords(language);
