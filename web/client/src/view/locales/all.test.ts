import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mainLanguage, pageLanguages } from "@trendvault/contract/page";
import { regionCodes } from "@trendvault/contract/regions";
import { IntlMessageFormat } from "intl-messageformat";
import { allMessages, readLanguages } from "./all.ts";
import { fill, formatsOf, languageOf, likelyLanguage } from "./locale.ts";

const numbers = { videos: 3, ranks: 24, rank: 1, total: 2, rate: 1 };
const named = {
  ...numbers,
  when: "-",
  share: "-",
  time: "-",
  window: "-",
  age: "-",
  hosts: "-",
  name: "-",
  payer: "-",
};

const european: Record<string, string> = { en: "en-GB", pt: "pt-PT" };

test.each([...pageLanguages])("a message in %p says what ICU MessageFormat says", (language) => {
  const { dir: _, categories: __, ...messages } = allMessages[language];
  const formats = formatsOf(language);
  for (const [name, message] of Object.entries(messages)) {
    for (const n of [0, 1, 2, 3, 5, 11, 21, 22, 101, 1234, 1_000_000]) {
      const expected = new IntlMessageFormat(message, european[language] ?? language);
      const said = expected.format({ ...named, n: message.includes("plural") ? n : formats.whole(n) });
      expect(fill(message, { ...named, n }, formats), name).toBe(String(said));
    }
  }
});

test("forms within a plural may name arguments, exact numbers come first, and a message without an end has one", () => {
  const formats = formatsOf("pl");
  const message = "{n, plural, =1 {raz} few {# razy w {place}} other {# razy}}";
  const said = [1, 2, 5, 22].map((n) => fill(message, { n, place: "DE" }, formats));
  expect(said).toEqual(["raz", "2 razy w DE", "5 razy", "22 razy w DE"]);
  expect(fill("{n", { n: 1 })).toBe("1");
});

test("every language has the arguments of each English message, and its words for the categories that sources name", () => {
  const argumentsOf = (message: string) => {
    const left = new IntlMessageFormat(message).getAst();
    const names = new Set<string>();
    for (let part = left.pop(); part !== undefined; part = left.pop()) {
      if (part.type === 1 || part.type === 6) names.add(part.value); // an argument, a plural
      if (part.type === 6) left.push(...Object.values(part.options).flatMap(({ value }) => value));
    }
    return names;
  };
  const sources = ["Sources/YouTube/Video.php", "Sources/PeerTube/Video.php"].map((path) =>
    readFileSync(join(import.meta.dir, "../../../../../writer/src", path), "utf8"),
  );
  const categories = sources.flatMap((text) => {
    const [, list = ""] = /const array CATEGORIES = \[(.*?)\];/s.exec(text) ?? [];
    return [...list.matchAll(/=> '(.*)'/g)].map(([, category]) => category);
  });
  expect(categories.length).toBeGreaterThan(30);
  const { dir: _, categories: __, ...english } = allMessages.en;
  for (const language of pageLanguages) {
    for (const [name, message] of Object.entries(english)) {
      const words = allMessages[language][name as keyof typeof english];
      expect(argumentsOf(words), `${language} ${name}`).toEqual(argumentsOf(message));
    }
    if (language === "en") continue; // sources name them in English
    for (const category of categories) expect(allMessages[language].categories[category ?? ""]).toBeString();
  }
});

function readWords(text: string, language: string) {
  return readLanguages({ [language]: "words.json" }, () => text)[language];
}

test("a file of an operator's language has English words for those that it lacks, and forms of its own plurals", () => {
  const expected = "{window}: {n, plural, one {צפייה אחת} two {שתי צפיות} other {# צפיות}}";
  const read = readWords(JSON.stringify({ dir: "rtl", expected, categories: { Music: "מוזיקה" } }), "he");
  const { expected: _, ...english } = allMessages.en;
  expect(read).toEqual({ ...english, dir: "rtl", expected, categories: { Music: "מוזיקה" } });
  for (const words of Object.values(allMessages)) // in the same form; Welsh has each form of plurals
    expect(readWords(JSON.stringify(words), "cy")).toEqual(words);
  const said = [1, 2, 30].map((n) => fill(expected, { window: "-", n }, formatsOf("he")));
  expect(said).toEqual(["-: צפייה אחת", "-: שתי צפיות", "-: 30 צפיות"]);
});

test("words of an operator's language that a version does not know are left out, and told", () => {
  const leftOut: string[] = [];
  const text = '{"dir": "rtl", "trendings": "<b>", "more": "עוד", "constructor": 7, "__proto__": {}}';
  const read = readLanguages(
    { he: "he.json" },
    () => text,
    (words) => void leftOut.push(words),
  );
  expect(read.he).toEqual({ ...allMessages.en, dir: "rtl", more: "עוד", categories: {} });
  const told = (name: string) =>
    `languages.he (he.json): ${name}: unknown, expected the name of a word of en.json`;
  expect(leftOut).toEqual(["trendings", "constructor", "__proto__"].map(told));
});

test.each([
  ["he", "{", 'expected JSON: an object with "dir" and words, like en.json'],
  ["he", {}, "dir: expected ltr or rtl"],
  ["de", { dir: "ltr" }, "de is built in: expected another"],
  ["xq", { dir: "ltr" }, "expected a language whose numbers are known (CLDR), which xq is not"],
  ["he", { dir: "rtl", more: "<b>עוד</b>" }, "more: expected a text of 1 to 500 characters, without markup"],
  ["he", { dir: "rtl", more: "\u202eעוד" }, "more: expected a text of 1 to 500 characters"],
  ["he", { dir: "rtl", more: " \u200b" }, "more: expected a text of 1 to 500 characters"],
  ["he", { dir: "rtl", more: 7 }, "more: expected a text of 1 to 500 characters"],
  [
    "he",
    { dir: "rtl", categories: { Music: "" } },
    "categories.Music: expected a text of 1 to 500 characters",
  ],
  ["he", { dir: "rtl", up: "עלה" }, "up: expected the arguments of “up {n}”"],
  ["he", { dir: "rtl", up: "עלה {n} {m}" }, "up: expected the arguments of “up {n}”"],
  ["he", { dir: "rtl", up: "עלה {n" }, "up: expected the arguments of “up {n}”"],
  ["he", { dir: "rtl", up: "{n} } {" }, "up: expected the arguments of “up {n}”"],
  ["he", { dir: "rtl", up: "{n, plural, other {#}}" }, "up: expected no other plural than in “up {n}”"],
  ["he", { dir: "rtl", whySeen: "{share} {n, plural, few {#} other {#}}" }, "of the forms one, two, other"],
  ["he", { dir: "rtl", whySeen: "{share} {n, plural, one {#}}" }, "of the forms one, two, other"],
])("in %p, %p is refused: %s", (language, words, expected) => {
  const text = typeof words === "string" ? words : JSON.stringify(words);
  expect(() => readWords(text, language)).toThrow(expected);
});

test("without `lang`, the element has the language that the page of the region has", () => {
  const languages = regionCodes.map((code) => languageOf(likelyLanguage(code.toLowerCase())));
  expect(languages).toEqual(regionCodes.map(mainLanguage) as typeof languages);
});

test.each([
  ["BR", "pt"],
  ["US", "en"],
  ["JP", "ja"],
  ["XK", "sq"],
  ["ZZ", "en"],
  ["", "en"],
  ["GBR", "en"],
  [null, "en"],
])("in %p people are likely to read %p", (region, language) => {
  expect(likelyLanguage(region)).toBe(language);
});
