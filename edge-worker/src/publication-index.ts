import { type ListKind, listName } from "@trendvault/contract/lists";
import { type ListRefusal, listRefusals, readCursor, type TrendingQuery } from "@trendvault/contract/queries";
import { parseJson } from "./signed-answer.ts";

/**
 * What the origin has published, as it says, signed, at /api/regions: which generations, and the categories now. Where
 * several writers share the regions, each region has generations of its own; null: none.
 */
type PublicationIndex = {
  generation: number;
  oldest_generation: number;
  categories: string[];
  /** An origin of an earlier release does not say it by region. */
  regions?: PublishedRegion[];
  /** It was said in a bundle, of its generation alone: there may be others, whatever their number. */
  isOfOne: boolean;
};

/** Which lists there are by kind: an origin of an earlier release does not say it of all of them. */
type PublishedRegion = {
  code: string;
  generation?: number | null;
  oldest_generation?: number | null;
} & { [Kind in `${ListKind}_lists`]?: string[] };

/** How much larger the next number of a region may be: of the only writer, or of one of several (docs/operations/scale.md). */
const steps = [1, 256];

/** Reads the body of /api/regions. `isOfOne`: it comes from a bundle. */
export function readPublicationIndex(body: string, isOfOne = false): PublicationIndex {
  return { ...(parseJson(body) as PublicationIndex), isOfOne };
}

/** Whether a list exists may depend on what is published: only its first page over all videos always does. */
export function dependsOnPublications(query: TrendingQuery | null): query is TrendingQuery {
  return query !== null && (query.cursor !== undefined || listName(query) !== "");
}

/**
 * Why there is no such list among the published ones; null when there may be one. `holds`: a deleted generation stays
 * deleted, but the next one may be published at any time.
 */
export function findRefusal(
  query: TrendingQuery,
  index: PublicationIndex,
): { refusal: ListRefusal; holds: "for good" | "for now" | "not for long" } | null {
  const kept = keptOf(query, index);
  if (kept === null) return null;
  const generation = query.cursor === undefined ? kept.newest : readCursor(query.cursor).generation;
  if (generation < kept.oldest) return { refusal: listRefusals.generationGone(query), holds: "for good" };
  if (generation > kept.newest) {
    const isNext = index.isOfOne || steps.includes(generation - kept.newest);
    return { refusal: listRefusals.generationGone(query), holds: isNext ? "not for long" : "for now" };
  }
  if (generation < kept.newest) return null; // it may have had the list
  const published = regionOf(query.region, index);
  const refusal =
    refuseCategory(query, index) ??
    listRefusals.unlistedKind(query, (kind) => published?.[`${kind}_lists`] ?? []);
  return refusal && { refusal, holds: "for now" };
}

function refuseCategory({ category }: TrendingQuery, { categories }: PublicationIndex): ListRefusal | null {
  return category === undefined || categories.includes(category)
    ? null
    : listRefusals.unknownCategory(categories);
}

function regionOf(region: string, { regions }: PublicationIndex): PublishedRegion | undefined {
  return regions?.find(({ code }) => code === region);
}

/** Which generations of a list's region there are; null without any. */
function keptOf(
  { region }: TrendingQuery,
  index: PublicationIndex,
): { newest: number; oldest: number } | null {
  const own = regionOf(region, index);
  const newest = own?.generation === undefined ? index.generation : own.generation;
  const oldest = own?.oldest_generation === undefined ? index.oldest_generation : own.oldest_generation;
  if (newest === null || oldest === null) return null;
  return { newest, oldest: index.isOfOne ? 1 : oldest }; // older ones have bundles of their own
}
