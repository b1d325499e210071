/**
 * The words of one language. {n}, {time}, {age} and {hosts} are replaced. A language that lacks one does not compile.
 */
export type Words = {
  trending: string;
  region: string;
  language: string;
  toList: string;
  window: string;
  windows: Readonly<Record<"now" | "day" | "week", string>>;
  category: string;
  allCategories: string;
  show: string;
  up: string;
  down: string;
  unchanged: string;
  new: string;
  viewsAnHour: string;
  sparkline: string;
  why: string;
  expected: string;
  counted: string;
  loading: string;
  more: string;
  empty: string;
  listOf: string;
  newer: string;
  showNewer: string;
  stale: string;
  fallback: string;
  offline: string;
  failed: string;
  unverified: string;
  retry: string;
  howMade: string;
  feed: string;
  sends: string;
  sendsNothing: string;
  noCookies: string;
  foreignThumbs: string;
};

/** The languages that there are words of: the first of each region. */
export const languages = ["en", "de", "fr", "es", "it", "nl", "pl", "sv", "pt", "da", "cs"] as const;
export type Language = (typeof languages)[number];

/** Replaces {name} by what `values` has. */
export function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}
