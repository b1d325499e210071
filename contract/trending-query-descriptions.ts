import * as z from "zod/mini";
import { defaultRegion, regionCodes } from "./regions.ts";
import { TrendingQuery } from "./trending-query.ts";

// The parser looks the region up when it is asked, since a program may have regions of its own.
const region = z._default(z.enum(regionCodes), defaultRegion);
const described = z.extend(TrendingQuery, { region });
const shape = described.def.shape;

const descriptions: Record<keyof typeof shape, string> = {
  region: "The market, ISO 3166-1 alpha-2, in upper or lower case",
  window: "The time ahead that a score covers: now = 6 hours, day = 24 hours, week = 7 days",
  category: "One of the categories that /api/regions lists; without it, the list over all categories",
  language:
    "The primary subtag of a language (BCP 47): videos in it, in all its regional variants (RFC 4647, basic filtering). One that /api/regions lists for the market; not beside `category`",
  fields:
    "What an item has: snippet = only id, rank, title, channel, thumbs and url; chart = everything, and a sparkline; without it, everything but the sparkline",
  limit: "The most items on a page",
  cursor: "The cursor in `next` of the previous page",
};

/** The parameters of an explanation, with their descriptions. */
export function describedExplainQuery() {
  const { region, window } = describedTrendingQuery().def.shape;
  return z.strictObject({ region, window });
}

/** The schema of the query with its descriptions for OpenAPI: in a file of their own, the edge does not bundle them. */
export function describedTrendingQuery(): typeof described {
  for (const name of Object.keys(shape) as (keyof typeof shape)[]) {
    z.globalRegistry.add(shape[name], { description: descriptions[name] });
  }
  return described;
}
