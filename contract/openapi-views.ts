import * as z from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { exampleVideoId, trendingPageExample } from "./examples.ts";
import { failuresAlone } from "./openapi-responses.ts";
import { viewMinutesPath, viewShardsPath, viewsPath } from "./paths.ts";
import { pullRows, shardPattern } from "./view-limits.ts";
import { ViewMessage } from "./view-message-schema.ts";
import { ViewMinutes, ViewShards } from "./view-minutes.ts";

const edgeOnly = "Answered by the edge only, where counting is switched on; elsewhere 404.";
const messageExample = { token: trendingPageExample.token, seen: 12, opened: [3, 7] };

const pullFields = z.object({
  "Signature-Input": z.string().meta({ description: "RFC 9421, label pull, hmac-sha256" }),
  Signature: z
    .string()
    .meta({ description: "RFC 9421, over method, path and query, with a key of VIEWS_KEYS" }),
});

export const minutesExample: ViewMinutes = {
  shard: "DE-0",
  after: 29_921_040,
  until: 29_921_042,
  last_closed: 29_921_042,
  lost_until: null,
  looks: [
    {
      minute: 29_921_041,
      window: "day",
      category: "",
      generation: 4711,
      ranks: [[1, exampleVideoId, 120, 5]],
    },
  ],
  served: [{ minute: 29_921_041, window: "day", category: "", pages: [[0, 24, 130]] }],
};

export const shardsExample: ViewShards = { shards: ["DE-0"], kept_hours: 48 };

const pullFailures = failuresAlone(
  "invalid-parameter",
  "pull-signature",
  "not-found",
  "not-counted",
  "internal",
);

/** The paths about what visitors' browsers tell. */
export const viewPaths: ZodOpenApiPathsObject = {
  [viewsPath]: {
    post: {
      operationId: "countViews",
      summary: "Tells which ranks of a list were seen and opened",
      description: `${edgeOnly} One message for each list shown; it is added to counters and then forgotten. Ranks are the list's.`,
      requestBody: {
        content: {
          "text/plain": { schema: ViewMessage, example: messageExample },
          "application/json": { schema: ViewMessage, example: messageExample },
        },
      },
      responses: {
        "204": { description: "Counted" },
        ...failuresAlone(
          "invalid-message",
          "token-refused",
          "not-found",
          "content-too-large",
          "unsupported-media-type",
          "uri-too-long",
          "too-many-requests",
          "internal",
          "not-counted",
        ),
      },
    },
  },
  [viewMinutesPath]: {
    get: {
      operationId: "pullViewMinutes",
      summary: "The counts of the closed minutes of a shard, for a writer",
      description: `${edgeOnly} It changes no count, so that it may be repeated.`,
      requestParams: {
        header: pullFields,
        query: z.object({
          shard: z.string().regex(shardPattern),
          after: z.int().min(0).optional().meta({ description: "`until` of the pull before" }),
          limit: z
            .int()
            .min(1)
            .max(pullRows.most)
            .default(pullRows.default)
            .meta({ description: "Rows at most; the first minute is given whole, however many it has" }),
        }),
      },
      responses: { ...answer("The counts", ViewMinutes, minutesExample), ...pullFailures },
    },
  },
  [viewShardsPath]: {
    get: {
      operationId: "listViewShards",
      summary: "The shards that counts are added to, for a writer",
      description: edgeOnly,
      requestParams: { header: pullFields },
      responses: { ...answer("The shards", ViewShards, shardsExample), ...pullFailures },
    },
  },
};

function answer(description: string, schema: z.ZodType, example: unknown) {
  return { "200": { description, content: { "application/json": { schema, example } } } };
}
