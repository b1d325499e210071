import * as z from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  aboutExample,
  exampleVideoId,
  explanationExample,
  regionListExample,
  trendingChartPageExample,
  trendingPageExample,
  trendingSnippetPageExample,
  videoExample,
} from "./examples.ts";
import { About, Explanation } from "./explanation.ts";
import { cachedFields, conditions, failures, success } from "./openapi-responses.ts";
import { RegionList, TrendingChartPage, TrendingPage, TrendingSnippetPage, Video } from "./responses.ts";
import { describedExplainQuery, describedTrendingQuery } from "./trending-query-descriptions.ts";
import { videoIdPattern } from "./video-id.ts";

const anyPage = z.union([TrendingPage, TrendingChartPage, TrendingSnippetPage]);
const pageExamples = {
  default: { summary: "Without `fields`", value: trendingPageExample },
  chart: { summary: "fields=chart", value: trendingChartPageExample },
  snippet: { summary: "fields=snippet", value: trendingSnippetPageExample },
};

const videoIdInPath = z
  .string()
  .regex(videoIdPattern)
  .meta({ examples: [exampleVideoId] });

/** The paths of what trends: lists, videos, regions. */
export const listPaths: ZodOpenApiPathsObject = {
  "/api/trending": {
    get: {
      operationId: "listTrending",
      summary: "One page of the videos that trend in a market",
      description:
        "Ranks by the views expected in the window ahead. All pages that `next` links belong to one generation, even after a newer one is published.",
      requestParams: { query: describedTrendingQuery(), header: conditions() },
      responses: {
        ...success("The requested page", anyPage, {
          examples: pageExamples,
          headers: z.object({
            ...cachedFields,
            Link: z.string().optional().meta({ description: 'The next page: rel="next" (RFC 8288)' }),
          }),
        }),
        ...failures("invalid-parameter", "not-found", "generation-gone"),
      },
    },
  },
  "/api/videos/{id}": {
    get: {
      operationId: "readVideo",
      summary: "One video, where it trends and how its views grew",
      description: "Its ranks are those of the newest generation, in every list of every market.",
      requestParams: {
        path: z.object({ id: videoIdInPath }),
        header: conditions(),
      },
      responses: {
        ...success("The requested video", Video, { example: videoExample }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/api/videos/{id}/explain": {
    get: {
      operationId: "explainRank",
      summary: "Why a video is where it is in a list over all categories",
      description:
        "What the newest generation's list was made from, as facts and as sentences. A video that is known in the market and not in the list is answered with what is known.",
      requestParams: {
        path: z.object({ id: videoIdInPath }),
        query: describedExplainQuery(),
        header: conditions(),
      },
      responses: {
        ...success("Why it is there", Explanation, { example: explanationExample }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/api/about": {
    get: {
      operationId: "readMaking",
      summary: "How the lists are made",
      description: "The parameters that were in force when the newest generation was published.",
      requestParams: { header: conditions() },
      responses: {
        ...success("What is in force", About, { example: aboutExample }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/api/regions": {
    get: {
      operationId: "listRegions",
      summary: "The markets, how many videos each has and how fresh they are",
      description:
        "Also which categories and languages have a list, and which generations a cursor may belong to.",
      requestParams: { header: conditions() },
      responses: {
        ...success("All markets and categories", RegionList, { example: regionListExample }),
        ...failures("invalid-parameter"),
      },
    },
  },
};
