import type { PageQuery } from "@trendvault/contract/page";
import type { Formats } from "../client/src/view/formats.ts";
import type { List } from "../client/src/view/list-view.ts";
import type { Language, Words } from "../client/src/view/words/words.ts";
import type { Assets } from "./manifest.ts";

/** What the head and the foot of a page are made from, at the origin and in the browser. */
export type Shell = {
  query: PageQuery;
  language: Language;
  words: Words;
  formats: Formats;
  /** Those that there are lists of. */
  categories: readonly string[];
  thumbHosts: readonly string[];
  /** Whether this site counts what is looked at. */
  sendsViews: boolean;
};

/** What the origin says of every page to its scripts: it does not depend on the list. */
export type PageData = Pick<Shell, "categories" | "thumbHosts" | "sendsViews"> & {
  /** The language of each region, by code, where the deployment has its own regions. */
  languages?: Record<string, string>;
};

/** A whole page. */
export type Page = Shell & {
  list: PageList;
  /** The same list as JSON, for the element. */
  json: string;
  assets: Assets;
  /** Its Content-Security-Policy. */
  policy: string;
};

export type PageList = List & { generated_at: string; next: string | null };
