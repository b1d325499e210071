import { generationGone, type ListRefusal, unknownCategory } from "@trendvault/contract/list-refusals";
import { readCursor, type TrendingQuery } from "@trendvault/contract/trending-query";
import { parseJson } from "./parse-json.ts";

/** What the origin has published, as it says, signed, at /api/regions: which generations, and the newest one's categories. */
export type Published = { generation: number; oldest_generation: number; categories: string[] };

export function readPublished(body: string): Published {
  return parseJson(body) as Published;
}

/** Whether a list exists may depend on what is published: only its first page over all categories always does. */
export function dependsOnPublished(query: TrendingQuery | null): query is TrendingQuery {
  return query !== null && (query.cursor !== undefined || query.category !== undefined);
}

/** Why there is no such list among the published ones, or null when there may be one. */
export function refuseList(query: TrendingQuery, published: Published): ListRefusal | null {
  const { generation: newest, oldest_generation, categories } = published;
  const generation = generationOf(query) ?? newest;
  if (generation < oldest_generation || generation > newest) return generationGone(query);
  if (generation < newest) return null; // it may have had the category
  const { category } = query;
  return category === undefined || categories.includes(category) ? null : unknownCategory(categories);
}

/** Whether the generation of a cursor was deleted, which no later statement can change. */
export function isDeleted(query: TrendingQuery, { oldest_generation }: Published): boolean {
  return (generationOf(query) ?? oldest_generation) < oldest_generation;
}

/** Whether a cursor may be of a generation that was published just now. */
export function mayBeNext(query: TrendingQuery, { generation }: Published): boolean {
  return generationOf(query) === generation + 1;
}

function generationOf({ cursor }: TrendingQuery): number | null {
  return cursor === undefined ? null : readCursor(cursor).generation;
}
