import { pageUrl } from "@trendvault/contract/page";
import { h, type ViewElement } from "../client/src/view/nodes.ts";
import { fill, type Words } from "../client/src/view/words/words.ts";
import type { Shell } from "./page-model.ts";

/** The title of a page, for the tab. */
export function titleOf({ words, formats, query }: Pick<Shell, "words" | "formats" | "query">): string {
  const category = query.category === undefined ? "" : ` · ${query.category}`;
  return `${words.trending}: ${formats.regionName(query.region)}${category}`;
}

/** When the list was made (RFC 3339), in words that say so. */
export function asOfView(generatedAt: string, text: string, words: Words): ViewElement {
  const [before = "", after = ""] = fill(words.listOf, { time: "\n" }).split("\n");
  const time = h("time", { datetime: generatedAt }, text);
  return h("p", { class: "as-of", id: "as-of" }, before, time, after);
}

/** The link to the next ranks of the same generation; null at the end of the list. `next` is the list's. */
export function moreLink(
  next: string | null,
  { query, words }: Pick<Shell, "query" | "words">,
): ViewElement | null {
  const cursor = next === null ? null : new URL(next, "https://site.example").searchParams.get("cursor");
  if (cursor === null) return null;
  const link = h("a", { rel: "next", href: pageUrl({ ...query, cursor }) }, words.more);
  return h("p", { class: "more", id: "more" }, link);
}
