import * as z from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { atomFeedExample, jsonFeedExample } from "./examples-of-feeds.ts";
import { feedTypes } from "./feed-url.ts";
import { conditions, failures, success } from "./openapi-responses.ts";
import { regionCodes } from "./regions.ts";
import { TrendingItem, TrendingPage } from "./responses.ts";
import { describedTrendingQuery } from "./trending-query-descriptions.ts";

const { window, category } = describedTrendingQuery().def.shape;
const requestParams = {
  path: z.object({ region: z.enum(regionCodes).meta({ examples: ["GB"] }) }),
  query: z.object({ window, category }),
  header: conditions(),
};

const JsonFeed = z
  .object({
    version: z.literal("https://jsonfeed.org/version/1.1"),
    title: z.string(),
    language: z.string().meta({ description: "BCP 47" }),
    _trendvault: TrendingPage.pick({
      region: true,
      window: true,
      category: true,
      generation: true,
      generated_at: true,
    }).extend({
      category: z.string().nullable().meta({ description: "Null in the list over all categories" }),
    }),
    items: z.array(
      z.object({
        id: z.string().meta({ description: "A urn:uuid of the video's id, which stays the same" }),
        url: z.url().optional(),
        title: z.string(),
        content_text: z.string(),
        image: z.url(),
        date_published: z.iso.datetime().optional(),
        authors: z.array(z.object({ name: z.string() })),
        tags: z.array(z.string()).optional(),
        _trendvault: TrendingItem.pick({ rank: true, previous_rank: true }).extend({ video: z.string() }),
      }),
    ),
  })
  .meta({ id: "JsonFeed", description: "JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/)" });

/** The paths of feeds: the first 50 ranks of a list, for feed readers. */
export const feedPaths: ZodOpenApiPathsObject = {
  "/feeds/{region}.json": {
    get: {
      operationId: "readJsonFeed",
      summary: "The first 50 ranks of a list as JSON Feed",
      description: "Entries link to the videos where their addresses are known. Titles are text.",
      requestParams,
      responses: {
        ...success("The feed", JsonFeed, { contentType: feedTypes.json, example: jsonFeedExample }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/feeds/{region}.atom": {
    get: {
      operationId: "readAtomFeed",
      summary: "The first 50 ranks of a list as Atom",
      description: "RFC 4287. Entries link to the videos where their addresses are known. Titles are text.",
      requestParams,
      responses: {
        ...success("The feed", z.string(), { contentType: feedTypes.atom, example: atomFeedExample }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
};
