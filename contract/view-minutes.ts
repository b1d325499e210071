import * as z from "zod";
import { largestLimit, windows } from "./trending-query.ts";
import { videoIdPattern } from "./video-id.ts";
import { shardPattern } from "./view-limits.ts";

/** What the edge answers when a writer pulls what visitors' browsers have told: counts per minute, and nothing else. */

const shard = z
  .string()
  .regex(shardPattern)
  .meta({ examples: ["GB-0"] });
const minute = z
  .int()
  .min(0)
  .meta({ description: "Unix time divided by 60, rounded down: the edge's clock" });
const list = {
  minute,
  window: z.enum(windows),
  category: z.string().meta({ description: "As tokens name it: empty in the list over all categories" }),
};
const count = z.int().min(0);

/** The ranks of one list in one minute, as far as anything was counted. */
export const CountedRanks = z.strictObject({
  ...list,
  generation: z.int().min(1),
  ranks: z.array(
    z
      .tuple([z.int().min(1), z.string().regex(videoIdPattern), count, count])
      .meta({ description: "Rank, video id, looks and views: increments of this minute" }),
  ),
});

/** How often the pages of a list were served in one minute, new or as 304. */
export const ServedPages = z.strictObject({
  ...list,
  pages: z.array(
    z.tuple([count, z.int().min(1).max(largestLimit), count]).meta({
      description:
        "The page has the ranks after the first number, as many as the second, and was served so often",
    }),
  ),
});

/**
 * The closed minutes after `after`, whole, in order. `until` is the `after` of the next pull; there is more at once when
 * it is below `last_closed`.
 */
export const ViewMinutes = z
  .strictObject({
    shard,
    after: minute.nullable(),
    until: minute.meta({ description: "The answer is complete up to this minute; never below `after`" }),
    last_closed: minute.meta({ description: "No count of this minute or of one before changes any more" }),
    lost_until: minute.nullable().meta({
      description:
        "Counts of minutes after `after`, up to this one, were deleted before this pull; else null",
    }),
    looks: z.array(CountedRanks),
    served: z.array(ServedPages),
  })
  .meta({ id: "ViewMinutes" });
export type ViewMinutes = z.infer<typeof ViewMinutes>;
export type CountedRanks = z.infer<typeof CountedRanks>;
export type ServedPages = z.infer<typeof ServedPages>;

export const ViewShards = z
  .strictObject({
    shards: z.array(shard).meta({ description: "Where counts are added now" }),
    kept_hours: z.int().min(1),
  })
  .meta({ id: "ViewShards" });
export type ViewShards = z.infer<typeof ViewShards>;
