import { type PageLanguage, pageLanguages } from "@trendvault/contract/page";
import type en from "./en.json";

/**
 * The words of one language: messages in ICU MessageFormat, of which there are arguments and plurals, the direction of its
 * script, and names of categories. A language of ours that lacks one does not compile.
 */
export type Messages = Readonly<Record<Exclude<keyof typeof en, "dir" | "categories">, string>> & {
  /** ltr or rtl. */
  readonly dir: string;
  readonly categories: Readonly<Record<string, string>>;
};

/** Those that a list needs at once. The build makes a file of them: the element loads no others until somebody asks why. */
const listWords = [
  ...["dir", "nextHours", "nextDays", "up", "down", "unchanged", "new", "viewsAnHour", "sparkline", "why"],
  ...["expected", "expectedHere", "counted", "loading", "empty", "listOf", "newer", "show", "stale"],
  ...["fallback", "offline", "failed", "unverified", "retry", "howMade", "report", "placed", "sponsored"],
  ...["live", "scheduled"],
] as const satisfies (keyof Messages)[];
export type ListMessages = Pick<Messages, (typeof listWords)[number]>;

/** Those that only the origin needs, for /about. */
type AboutWord = Extract<keyof Messages, `about${string}` | `source${string}`>;

/** Those of why a video is where it is: loaded when somebody asks. */
type WhyWord = Extract<keyof Messages, `why${string}` | "newestFirst">;
export type WhyMessages = ListMessages & Pick<Messages, WhyWord>;

/** Those of a page and its list. */
export type PageMessages = ListMessages & Omit<Messages, AboutWord | WhyWord>;

/** Which of a language's three scripts has a word: the types above say the same. */
export function partOf(word: string): "list" | "why" | "page" {
  if ((listWords as readonly string[]).includes(word)) return "list";
  return word.startsWith("why") || word === "newestFirst" ? "why" : "page";
}

/** Leaves out what browsers do not load. */
export function wordsOfPage<Words extends PageMessages>(messages: Words): Omit<Words, AboutWord> {
  const words = Object.entries(messages).filter(([name]) => !/^(about|source)[A-Z]/.test(name));
  return Object.fromEntries(words) as Omit<Words, AboutWord>;
}

/** What a window of so many hours is called. */
export function nameWindow(
  hours: number,
  { messages, formats }: { messages: ListMessages; formats: Formats },
): string {
  return fill(isInDays(hours) ? messages.nextDays : messages.nextHours, { time: formats.duration(hours) });
}

function isInDays(hours: number): boolean {
  return hours > 48;
}

/**
 * A message with its arguments: `{name}`, and `{name, plural, one {# view} other {# views}}`, where # is the number as the
 * language writes it. Numbers are whole: with a fraction, other forms would be right.
 */
export function fill(
  text: string,
  values: Record<string, string | number>,
  formats: Pick<Formats, "whole" | "plural"> = plain,
): string {
  let filled = "";
  let at = 0;
  for (let start = text.indexOf("{"); start !== -1; start = text.indexOf("{", at)) {
    const end = closingBrace(text, start);
    filled += text.slice(at, start) + fillArgument(text.slice(start + 1, end), values, formats);
    at = end + 1;
  }
  return filled + text.slice(at);
}

const plain: Pick<Formats, "whole" | "plural"> = { whole: String, plural: () => "other" };

function fillArgument(
  argument: string,
  values: Record<string, string | number>,
  formats: Pick<Formats, "whole" | "plural">,
): string {
  const [, name = "", forms] = /^\s*(\w+)\s*(?:,\s*plural\s*,(.*))?$/s.exec(argument) ?? [];
  const value = values[name] ?? "";
  if (typeof value === "string") return value;
  const number = formats.whole(value);
  if (forms === undefined) return number;
  const known = pluralForms(forms);
  const form = known.get(`=${value}`) ?? known.get(formats.plural(Math.round(value))) ?? known.get("other");
  return fill((form ?? "").replaceAll("#", number), values, formats);
}

/** The forms of a plural by their keyword (CLDR's, or `=1`). */
function pluralForms(text: string): Map<string, string> {
  const forms = new Map<string, string>();
  for (let at = 0, start = text.indexOf("{"); start !== -1; start = text.indexOf("{", at)) {
    const end = closingBrace(text, start);
    forms.set(text.slice(at, start).trim(), text.slice(start + 1, end));
    at = end + 1;
  }
  return forms;
}

function closingBrace(text: string, start: number): number {
  for (let at = start, depth = 0; at < text.length; at++) {
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return at;
  }
  return text.length;
}

/** How numbers, times and ages are written in a language. */
export type Formats = {
  /** BCP 47. */
  language: string;
  whole(value: number): string;
  /** Of a share from 0 to 1. */
  percent(share: number): string;
  /** The plural form (CLDR) of a number. */
  plural(value: number): string;
  /** `time` is RFC 3339. In UTC, so that everybody gets the same bytes. */
  time(time: string): string;
  /** The same in the time zone of the device; of today only the time. */
  localTime(time: string): string;
  /** How long ago, of seconds: "2 minutes ago". */
  ago(seconds: number): string;
  /** How long, of hours: "24 hours", "7 days". */
  duration(hours: number): string;
  regionName(code: string): string;
};

const made = new Map<string, Formats>();

/** The formats of a language, made once: Intl takes longer to make them than a list takes to write. */
export function formatsOf(language: string): Formats {
  const known = made.get(language);
  if (known !== undefined) return known;
  const formats = makeFormats(language);
  made.set(language, formats);
  return formats;
}

/** A language (BCP 47), if it is built in; else English. */
export function languageOf(wanted: string): PageLanguage {
  return pageLanguages.find((language) => language === wanted) ?? "en";
}

/** The language that most people of a country are likely to read (CLDR): the element does not know a site's own regions. */
export function likelyLanguage(region: string | null): string {
  if (!/^[a-z]{2}$/i.test(region ?? "")) return "en";
  return new Intl.Locale(`und-${region}`).maximize().language;
}

// Of English and Portuguese the European forms: the regions are European. Which digits Arabic has differs by browser.
const writtenAs: Record<string, string> = { en: "en-GB", pt: "pt-PT", ar: "ar-u-nu-latn" };

function makeFormats(tag: string): Formats {
  const language = writtenAs[tag] ?? tag;
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const percent = lazy(
    () => new Intl.NumberFormat(language, { style: "percent", maximumSignificantDigits: 2 }),
  );
  const plural = lazy(() => new Intl.PluralRules(language));
  const region = new Intl.DisplayNames(language, { type: "region" });
  const time = lazy(() => new Intl.DateTimeFormat(language, { ...dateAndTime, timeZone: "UTC" }));
  const localTime = lazy(() => new Intl.DateTimeFormat(language, dateAndTime));
  const clock = lazy(() => new Intl.DateTimeFormat(language, { timeStyle: "short" }));
  const relative = lazy(() => new Intl.RelativeTimeFormat(language, { numeric: "always" }));
  return {
    language: tag,
    whole: (value) => number.format(value),
    percent: (share) => percent().format(share),
    plural: (value) => plural().select(value),
    time: (text) => `${time().format(new Date(text))} UTC`,
    localTime: (text) => {
      const date = new Date(text);
      const isToday = date.toDateString() === new Date().toDateString();
      return (isToday ? clock() : localTime()).format(date);
    },
    ago: (seconds) => formatAgo(relative(), seconds),
    duration: (hours) => formatDuration(language, hours),
    regionName: (code) => region.of(code) ?? code,
  };
}

const dateAndTime = { dateStyle: "medium", timeStyle: "short" } as const;

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function formatDuration(language: string, hours: number): string {
  const unit = isInDays(hours) ? "day" : "hour";
  const options = { style: "unit", unit, unitDisplay: "long" } as const;
  return new Intl.NumberFormat(language, options).format(unit === "day" ? hours / 24 : hours);
}

function formatAgo(relative: Intl.RelativeTimeFormat, seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 90) return relative.format(-minutes, "minute");
  const hours = Math.round(minutes / 60);
  return hours < 48 ? relative.format(-hours, "hour") : relative.format(-Math.round(hours / 24), "day");
}

const ownNames = new Map<string, string>();

/** What a language calls itself, asked once: Intl takes long to make. */
export function nameLanguage(language: string): string {
  const known = ownNames.get(language);
  if (known !== undefined) return known;
  const name = new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language;
  ownNames.set(language, name);
  return name;
}
