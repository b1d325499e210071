import * as z from "zod";
import { windows } from "./list-bounds.ts";
import { generation, rank, region, time, videoId, type Widened, window } from "./responses.ts";

/** The answers for people who ask why: why a video is where it is, and how the lists are made. */

const appeal = z.number().min(0);
const share = z.number().min(0).max(1);
const views = z.int().min(0);

export const Explanation = z
  .strictObject({
    id: videoId,
    title: z.string(),
    channel: z.string(),
    category: z.string().nullable(),
    region,
    window,
    generation,
    generated_at: time,
    formula: z.string().meta({ description: "The name and version of the formula" }),
    sentences: z.array(z.string()).min(1).meta({ description: "The same in English, for people" }),
    place: z
      .strictObject({
        rank,
        total: z.int().min(1).meta({ description: "Ranks in the whole list" }),
        rank_without_channel_limit: rank
          .nullable()
          .meta({ description: "The rank that it would have without the limit; null beyond the list's end" }),
        is_explored: z.boolean().meta({
          description: "Whether it is above the rank that it has earned, so that something is learned of it",
        }),
        score: z.number().min(0).meta({ description: "Views expected in the window ahead, in this market" }),
      })
      .nullable()
      .meta({ description: "Null when it is not in this list" }),
    counts: z
      .strictObject({
        views: views.meta({ description: "Views counted so far" }),
        counted_at: time,
        views_per_hour: z.number().min(0),
        rated_at: time.meta({ description: "The time that the rate is about" }),
        previous_views_per_hour: z
          .number()
          .min(0)
          .nullable()
          .meta({ description: "A slower average of earlier rates; null until there were two counts" }),
      })
      .nullable()
      .meta({ description: "Null when nobody counted its views in this market" }),
    forecast: z
      .strictObject({
        window_hours: z.int().min(1),
        age_starts_at: time,
        is_age_assumed: z.boolean().meta({ description: "Whether the time of publication is not known" }),
        taper_hours: z
          .number()
          .min(0)
          .meta({ description: "The rate falls with the square of (age + this)" }),
      })
      .nullable()
      .meta({ description: "What the score was computed from, with the rate; null for a video in no list" }),
    channel_limit: z.strictObject({ videos: z.int().min(1), within_ranks: z.int().min(0) }),
    looks: z
      .strictObject({
        looks: z.number().min(0).meta({ description: "At it, in the lists; older ones count less" }),
        views: z.number().min(0).meta({ description: "Of it, from the lists" }),
        weight: share.meta({ description: "How much looks weigh against the forecast in this market" }),
        appeal: appeal.meta({
          description:
            "Of those who look at it when new, the share that opens it; an estimate, which may be more than 1 from few looks",
        }),
        expected_appeal: appeal.meta({ description: "The same before any look was counted" }),
        tried_appeal: appeal.meta({ description: "An upper bound, by which it may be tried" }),
        is_held: z.boolean().meta({
          description: "Whether looks say more than views elsewhere let them, so that not all of it counts",
        }),
      })
      .nullable()
      .meta({ description: "Sums over all visitors; null where looks are not counted, or it is in no list" }),
  })
  .meta({ id: "Explanation" });
export type Explanation = Widened<z.infer<typeof Explanation>>;

export const About = z
  .strictObject({
    generation,
    generated_at: time,
    formula: z.string(),
    windows: z.array(z.strictObject({ name: z.enum(windows), hours: z.int().min(1) })),
    channel_limit: z.strictObject({ videos: z.int().min(1), within_ranks: z.int().min(0) }),
    sources: z
      .array(
        z.strictObject({
          kind: z.enum(["ndjson", "http", "youtube", "peertube", "edge", "demo"]),
          host: z.string().nullable().meta({ description: "Null when it is no other host's" }),
        }),
      )
      .nullable()
      .meta({ description: "Where counts come from; null when that is not known" }),
    explore_share: share.nullable().meta({
      description: "Of all looks, the share that may go to videos above the ranks they have earned",
    }),
    removed_videos: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: "Videos that were taken down and are in no list" }),
    thumb_hosts: z.array(z.string()).meta({
      description: "Hosts whose pictures this site shows, beside its own; the element asks for them",
    }),
    looks_counted: z.boolean().meta({ description: "Whether looks took part in any market" }),
  })
  .meta({ id: "About", description: "What is in force: how the lists of this generation were made" });
export type About = Widened<z.infer<typeof About>>;
