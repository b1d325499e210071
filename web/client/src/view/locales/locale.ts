import { findPageLanguage, type PageLanguage } from "@trendvault/contract/page";
import type en from "./en.json";

/**
 * The messages of one language. {n}, {time}, {age} and {hosts} are replaced; {time} of a window is "6 hours", or "7 days".
 * A language that lacks one does not compile.
 */
export type Messages = Readonly<Record<keyof typeof en, string>>;

/** What a window of so many hours is called. */
export function nameWindow(
  hours: number,
  { messages, formats }: { messages: Messages; formats: Formats },
): string {
  return fill(isInDays(hours) ? messages.nextDays : messages.nextHours, { time: formats.duration(hours) });
}

function isInDays(hours: number): boolean {
  return hours > 48;
}

/** Replaces {name} by what `values` has. */
export function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}

/** How numbers, times and ages are written in a language. */
export type Formats = {
  whole(value: number): string;
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

/** A language (BCP 47), if there are messages in it; else English. */
export function languageOf(wanted: string): PageLanguage {
  return findPageLanguage(wanted) ?? "en";
}

/** The language that most people of a country are likely to read (CLDR): the element does not know a site's own regions. */
export function likelyLanguage(region: string | null): string {
  if (!/^[a-z]{2}$/i.test(region ?? "")) return "en";
  return new Intl.Locale(`und-${region}`).maximize().language;
}

// Of English and Portuguese the European forms: the regions are European.
const european: Record<string, string> = { en: "en-GB", pt: "pt-PT" };

function makeFormats(tag: string): Formats {
  const language = european[tag] ?? tag;
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const region = new Intl.DisplayNames(language, { type: "region" });
  const time = lazy(() => new Intl.DateTimeFormat(language, { ...dateAndTime, timeZone: "UTC" }));
  const localTime = lazy(() => new Intl.DateTimeFormat(language, dateAndTime));
  const clock = lazy(() => new Intl.DateTimeFormat(language, { timeStyle: "short" }));
  const relative = lazy(() => new Intl.RelativeTimeFormat(language, { numeric: "always" }));
  return {
    whole: (value) => number.format(value),
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
