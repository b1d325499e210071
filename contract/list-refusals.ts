import type { ProblemExtras, ProblemKind } from "./problem.ts";
import { type TrendingQuery, trendingUrl } from "./trending-query.ts";

/** Why there is no such list, in the words that origin and edge share. */
export type ListRefusal = { kind: ProblemKind; detail: string; extras: ProblemExtras };

/** `categories` are those that there are now. */
export function unknownCategory(categories: Iterable<string>): ListRefusal {
  const known = [...categories].sort().join(", ");
  const detail = `expected ${known === "" ? "none" : `one of ${known}`}`;
  return {
    kind: "invalid-parameter",
    detail: `category: ${detail}`,
    extras: { invalid: [{ name: "category", detail }] },
  };
}

export function generationGone({ cursor: _, ...query }: TrendingQuery): ListRefusal {
  const detail = "The generation of this cursor was deleted.";
  return { kind: "generation-gone", detail, extras: { restart: trendingUrl(query) } };
}
