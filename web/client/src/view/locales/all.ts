import { type PageLanguage, pageLanguages } from "@trendvault/contract/page";
import ar from "./ar.json" with { type: "json" };
import cs from "./cs.json" with { type: "json" };
import da from "./da.json" with { type: "json" };
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import it from "./it.json" with { type: "json" };
import type { Messages } from "./locale.ts";
import nl from "./nl.json" with { type: "json" };
import pl from "./pl.json" with { type: "json" };
import pt from "./pt.json" with { type: "json" };
import sv from "./sv.json" with { type: "json" };

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
  ar,
};

/**
 * Reads an operator's languages: of each tag the path of a file in the form of en.json, which `read` gives the text of;
 * words that it lacks are the English ones. Unknown words, as of another version, are left out, and told.
 *
 * @throws Error with a line for each mistake: in which file, at which word, and what was expected
 */
export function readLanguages(
  files: Readonly<Record<string, string>>,
  read: (path: string) => string,
  leaveOut: (words: string) => void = () => {},
): Record<string, Messages> {
  const faults: string[] = [];
  const languages = Object.entries(files).map(([tag, path]): [string, Messages] => {
    const at = `languages.${tag} (${path}):`;
    try {
      return [tag, readMessages(read(path), tag, (word) => leaveOut(`${at} ${word}`))];
    } catch (error) {
      const { message } = error as Error;
      faults.push(...message.split("\n").map((fault) => `${at} ${fault}`));
      return [tag, en as never];
    }
  });
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return Object.fromEntries(languages);
}

/** Reads the text of one of them. @throws Error with a line for each mistake: at which word, and what was expected */
function readMessages(text: string, language: string, leaveOut: (word: string) => void): Messages {
  const words = parse(text);
  const given = isObject(words) ? Object.entries(words) : [];
  const unknown = given.filter(([name]) => !isWord(name)).slice(0, mostFaults);
  for (const [name] of unknown) leaveOut(`${name}: unknown, expected the name of a word of en.json`);
  const faults = faultsOf(words, language);
  if (faults.length > 0) throw new Error(faults.slice(0, mostFaults).join("\n"));
  return { ...en, categories: {}, ...Object.fromEntries(given.filter(([name]) => isWord(name))) };
}

function isWord(name: string): boolean {
  return Object.hasOwn(en, name);
}

const mostFaults = 20; // that are said at once

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function faultsOf(words: unknown, language: string): string[] {
  if (pageLanguages.some((known) => known === language)) return [`${language} is built in: expected another`];
  if (Intl.PluralRules.supportedLocalesOf(language).length === 0)
    return [`expected a language whose numbers are known (CLDR), which ${language} is not`];
  if (!isObject(words)) return ['expected JSON: an object with "dir" and words, like en.json'];
  const { dir, categories = {}, ...messages } = words;
  if (!isObject(categories)) return ["categories: expected an object of names"];
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  return [
    ...(dir === "ltr" || dir === "rtl" ? [] : ["dir: expected ltr or rtl"]),
    ...Object.entries(categories).flatMap(([category, name]) =>
      isPlainText(name) ? [] : [`categories.${category}: ${textExpected}`],
    ),
    ...Object.entries(messages).flatMap(([name, message]) =>
      isWord(name) ? messageFaults(name as Exclude<keyof Messages, "categories">, message, forms) : [],
    ),
  ];
}

/** A program fills the arguments of the English message, and a plural only where that has one. */
function messageFaults(
  name: Exclude<keyof Messages, "categories">,
  message: unknown,
  forms: readonly string[],
): string[] {
  const english = en[name];
  if (!isPlainText(message)) return [`${name}: ${textExpected}`];
  const [given, expected] = [readArguments(message), readArguments(english)];
  if (given.names !== expected.names || given.rest !== "")
    return [`${name}: expected the arguments of “${english}”`];
  const isRight = ([argument, keywords]: [string, string[]]) =>
    expected.plurals.has(argument) &&
    keywords.includes("other") &&
    keywords.every((keyword) => keyword.startsWith("=") || forms.includes(keyword));
  return [...given.plurals].every(isRight)
    ? []
    : [`${name}: expected no other plural than in “${english}”, of the forms ${forms.join(", ")}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const textExpected = "expected a text of 1 to 500 characters, without markup and what turns text around";

function isPlainText(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^(?=.*[\p{L}\p{N}\p{P}\p{S}])[^<>\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]{1,500}$/u.test(value)
  );
}

const pluralForm = /(=\d+|[a-z]+)\s*\{((?:[^{}]|\{\w+\})*)\}/;
const plural = new RegExp(`\\{\\s*(\\w+)\\s*,\\s*plural\\s*,((?:\\s*${pluralForm.source})+)\\s*\\}`, "g");

/** The names of a message's arguments, the forms of its plurals, and the braces that belong to neither. */
function readArguments(message: string): { names: string; plurals: Map<string, string[]>; rest: string } {
  const names = new Set<string>();
  const plurals = new Map<string, string[]>();
  const flat = message.replace(plural, (_, name: string, text: string) => {
    const forms = [...text.matchAll(new RegExp(pluralForm, "g"))];
    names.add(name);
    plurals.set(
      name,
      forms.map(([, keyword = ""]) => keyword),
    );
    return forms.map(([, , form]) => form).join(" ");
  });
  const rest = flat.replace(/\{(\w+)\}/g, (_, name: string) => {
    names.add(name);
    return "";
  });
  return { names: [...names].sort().join(), plurals, rest: rest.replace(/[^{}]/g, "") };
}
