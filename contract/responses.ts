import * as z from "zod";
import { problemKinds, problemType } from "./problem.ts";
import { regionCodes } from "./regions.ts";
import { longestToken } from "./token.ts";
import { largestLimit, windows } from "./trending-query.ts";
import { videoIdPattern } from "./video-id.ts";

/** Rows of the database carry plain strings; a foreign key makes sure that a region is one of ours. */
type Widened<T> = T extends string ? string : T extends object ? { [K in keyof T]: Widened<T[K]> } : T;

/** The answers of the API. The OpenAPI document is made from these; the origin's types are inferred from them. */

const videoId = z.string().regex(videoIdPattern);
const region = z.enum(regionCodes).meta({ id: "Region", description: "A market, ISO 3166-1 alpha-2" });
const window = z.enum(windows).meta({
  id: "Window",
  description: "The time ahead that a score covers: now = 6 hours, day = 24 hours, week = 7 days",
});
const time = z.iso.datetime().meta({ description: "RFC 3339, UTC, whole seconds" });
const thumbs = z
  .tuple([z.url(), z.url()])
  .meta({ description: "The same picture in two sizes: hq.webp, sd.webp" });
const generation = z
  .int()
  .min(1)
  .meta({ description: "The published ranking that this answer was read from" });
const viewsPerHour = z.number().min(0);

export const TrendingItem = z
  .strictObject({
    id: videoId,
    rank: z.int().min(1),
    title: z.string(),
    channel: z.string(),
    category: z.string().nullable(),
    published_at: time.nullable(),
    score: z.number().min(0).meta({ description: "Views expected in the window ahead, in this market" }),
    velocity: z.strictObject({
      views_per_hour: viewsPerHour,
      previous_views_per_hour: viewsPerHour.nullable(),
      views: z.int().min(0).meta({ description: "Views counted so far" }),
    }),
    thumbs,
  })
  .meta({ id: "TrendingItem" });

export const TrendingPage = z
  .strictObject({
    region,
    window,
    category: z.string().nullable().meta({ description: "Null in the list over all categories" }),
    generation,
    generated_at: time,
    newest_observed_at: time.nullable().meta({ description: "The time of this market's newest view count" }),
    channel_limit: z
      .strictObject({ videos: z.int().min(1), within_ranks: z.int().min(0) })
      .meta({ description: "At most this many videos of one channel within the first ranks" }),
    count: z.int().min(0).max(largestLimit),
    total: z.int().min(0).meta({ description: "Ranks in the whole list" }),
    token: z.string().max(longestToken).meta({
      description:
        "A JWS (RFC 7515, EdDSA) that proves that this page was served in this minute; valid for 15 minutes. The same for everybody",
    }),
    items: z.array(TrendingItem).max(largestLimit),
    next: z.string().nullable().meta({ description: "The next page of this generation, null on the last" }),
  })
  .meta({ id: "TrendingPage" });

export type TrendingPage = Widened<z.infer<typeof TrendingPage>>;

export const Video = z
  .strictObject({
    id: videoId,
    title: z.string(),
    channel: z.string(),
    category: z.string().nullable(),
    language: z.string().nullable().meta({ description: "BCP 47" }),
    published_at: time.nullable(),
    duration_seconds: z.int().min(0).nullable(),
    thumbs,
    generation,
    generated_at: time,
    trending: z
      .array(
        z.strictObject({
          region,
          window,
          category: z.string().nullable(),
          rank: z.int().min(1),
          score: z.number().min(0),
        }),
      )
      .meta({ description: "Its ranks in this generation, in every list that it is in" }),
    history: z
      .array(
        z.strictObject({
          region,
          observations: z.array(z.strictObject({ observed_at: time, views: z.int().min(0) })),
        }),
      )
      .meta({ description: "The latest view counts per market, newest first" }),
  })
  .meta({ id: "Video" });
export type Video = Widened<z.infer<typeof Video>>;

export const RegionList = z
  .strictObject({
    generation,
    oldest_generation: z
      .int()
      .min(1)
      .meta({ description: "The oldest generation that is kept: a cursor of an older one is 410" }),
    generated_at: time,
    categories: z.array(z.string()).meta({ description: "What `category` of /api/trending may be" }),
    regions: z.array(
      z.strictObject({
        code: region,
        name: z.string(),
        languages: z.array(z.string()).meta({ description: "BCP 47, the main one first" }),
        video_count: z.int().min(0),
        newest_observed_at: time.nullable(),
      }),
    ),
  })
  .meta({ id: "RegionList" });
export type RegionList = Widened<z.infer<typeof RegionList>>;

export const PublicKeys = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.literal("OKP"),
        crv: z.literal("Ed25519"),
        kid: z
          .string()
          .meta({ description: "The JWK thumbprint (RFC 7638); of a token's key its first 8 characters" }),
        x: z.string(),
        use: z.literal("sig"),
        alg: z.literal("EdDSA"),
        purpose: z
          .enum(["responses", "tokens"])
          .meta({ description: "What it signs: responses (RFC 9421), or the tokens in lists" }),
      }),
    ),
  })
  .meta({ id: "PublicKeys", description: "JWK set (RFC 7517)" });
export type PublicKeys = z.infer<typeof PublicKeys>;

export const ProblemDocument = z
  .strictObject({
    type: z.enum(problemKinds.map(problemType)),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    invalid: z.array(z.strictObject({ name: z.string(), detail: z.string() })).optional(),
    instance: z.string().optional().meta({ description: "The id of the log line with the cause" }),
    restart: z
      .string()
      .optional()
      .meta({ description: "The URL of the first page of the newest generation" }),
  })
  .meta({
    id: "Problem",
    description:
      "A problem document (RFC 9457). Compare `type`, which never changes its meaning; `detail` is for people",
  });
