import {
  generationGone,
  type ListRefusal,
  readCursor,
  type TrendingQuery,
  unknownCategory,
  unknownLanguage,
} from "@trendvault/contract/queries";
import { parseJson } from "./signed-answer.ts";

/**
 * What the origin has published, as it says, signed, at /api/regions: which generations, and the categories now. Where
 * several writers share the regions, each region has generations of its own; null: none.
 */
export type Published = {
  generation: number;
  oldest_generation: number;
  categories: string[];
  /** An origin of an earlier release does not say it by region. */
  regions?: PublishedRegion[];
  /** It was said in a bundle, of its generation alone: there may be others, whatever their number. */
  isOfOne?: boolean;
};

/** `language_lists`: an origin of an earlier release has none. */
type PublishedRegion = {
  code: string;
  generation?: number | null;
  oldest_generation?: number | null;
  language_lists?: string[];
};

/** How much larger the next number of a region may be: of the only writer, or of one of several (docs/operations/scale.md). */
const steps = [1, 256];

export function readPublished(body: string): Published {
  return parseJson(body) as Published;
}

/** Whether a list exists may depend on what is published: only its first page over all videos always does. */
export function dependsOnPublished(query: TrendingQuery | null): query is TrendingQuery {
  return query !== null && (query.cursor ?? query.category ?? query.language) !== undefined;
}

/** Why there is no such list among the published ones, or null when there may be one. */
export function refuseList(query: TrendingQuery, published: Published): ListRefusal | null {
  const kept = keptOf(query, published);
  if (kept === null) return null;
  const generation = generationOf(query) ?? kept.newest;
  if (generation < kept.oldest || generation > kept.newest) return generationGone(query);
  if (generation < kept.newest) return null; // it may have had the list
  return refuseCategory(query, published) ?? refuseLanguage(query, published);
}

function refuseCategory({ category }: TrendingQuery, { categories }: Published): ListRefusal | null {
  return category === undefined || categories.includes(category) ? null : unknownCategory(categories);
}

function refuseLanguage({ region, language }: TrendingQuery, published: Published): ListRefusal | null {
  const languages = regionOf(region, published)?.language_lists ?? [];
  return language === undefined || languages.includes(language) ? null : unknownLanguage(languages);
}

function regionOf(region: string, { regions }: Published): PublishedRegion | undefined {
  return regions?.find(({ code }) => code === region);
}

/** Whether the generation of a cursor was deleted, which no later statement can change. */
export function isDeleted(query: TrendingQuery, published: Published): boolean {
  const kept = keptOf(query, published);
  const generation = generationOf(query);
  return kept !== null && generation !== null && generation < kept.oldest;
}

/** Whether a cursor may be of a generation that was published just now. */
export function mayBeNext(query: TrendingQuery, published: Published): boolean {
  const kept = keptOf(query, published);
  const generation = generationOf(query);
  if (kept === null || generation === null) return false;
  return published.isOfOne ? generation > kept.newest : steps.includes(generation - kept.newest);
}

/** Which generations of a list's region there are; null without any. */
function keptOf({ region }: TrendingQuery, published: Published): { newest: number; oldest: number } | null {
  const own = regionOf(region, published);
  const newest = own?.generation === undefined ? published.generation : own.generation;
  const oldest = own?.oldest_generation === undefined ? published.oldest_generation : own.oldest_generation;
  if (newest === null || oldest === null) return null;
  return { newest, oldest: published.isOfOne ? 1 : oldest }; // older ones have bundles of their own
}

function generationOf({ cursor }: TrendingQuery): number | null {
  return cursor === undefined ? null : readCursor(cursor).generation;
}
