import type { ProblemExtras, ProblemKind } from "./problem.ts";
import { type TrendingQuery, trendingUrl } from "./trending-query.ts";

/** Why there is no such list, in the words that origin and edge share. */
export type ListRefusal = { kind: ProblemKind; detail: string; extras: ProblemExtras };

/** Why something does not exist, in the words that origin and edge share. */
export const missing = {
  page: "The list ends before this page.",
  video: "No such video.",
  asset: "No such asset: the page that names it is of another version.",
  explanation: "Nothing is known of this video in this market.",
} as const;

/** `categories` are those that there are now. */
export function unknownCategory(categories: Iterable<string>): ListRefusal {
  return unlisted("category", categories);
}

/** `languages` are those that have a list in the region now. */
export function unknownLanguage(languages: Iterable<string>): ListRefusal {
  return unlisted("language", languages);
}

export function generationGone({ cursor: _, ...query }: TrendingQuery): ListRefusal {
  const detail = "The generation of this cursor was deleted.";
  return { kind: "generation-gone", detail, extras: { restart: trendingUrl(query) } };
}

function unlisted(name: string, values: Iterable<string>): ListRefusal {
  const known = [...values].sort().join(", ");
  const detail = `expected ${known === "" ? "none" : `one of ${known}`}`;
  return {
    kind: "invalid-parameter",
    detail: `${name}: ${detail}`,
    extras: { invalid: [{ name, detail }] },
  };
}
