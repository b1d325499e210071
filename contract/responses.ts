import * as z from "zod";
import { describeWindows, listLengths, type SourceKind, sourceKinds, windows } from "./lists.ts";
import { videoAddress, videoIdPattern } from "./paths.ts";
import { problemKinds, problemType } from "./problem.ts";
import { sparklineHours, type TrendingQuery } from "./queries.ts";
import { regionCodes } from "./regions.ts";
import { longestToken } from "./token.ts";

/** Rows of the database carry plain strings; a foreign key makes sure that a region is one of ours. */
type Widened<T> = T extends Window | SourceKind
  ? T
  : T extends string
    ? string
    : T extends object
      ? { [K in keyof T]: Widened<T[K]> }
      : T;

/** The answers of the API. The OpenAPI document is made from these; the origin's types are inferred from them. */

const videoId = z.string().regex(videoIdPattern);
const region = z.enum(regionCodes).meta({ id: "Region", description: "A region, ISO 3166-1 alpha-2" });
const window = z.enum(windows).meta({
  id: "Window",
  description: describeWindows(),
});
export type Region = z.infer<typeof region>;
export type Window = z.infer<typeof window>;
const time = z.iso.datetime().meta({ description: "RFC 3339, UTC, whole seconds" });
const thumbs = z.tuple([z.url(), z.url()]).meta({
  id: "Thumbs",
  description:
    "The same picture in two sizes, the larger one first; twice the same address where there is one size, which is `data:` where the video has none any more",
});
const pixels = z.int().min(1).max(10_000);
const generation = z
  .int()
  .min(1)
  .meta({ description: "The published ranking that this answer was read from" });
const viewsPerHour = z.number().min(0);
const rank = z.int().min(1);
const url = z
  .string()
  .regex(videoAddress)
  .max(2000)
  .nullable()
  .meta({ id: "VideoUrl", description: "Where the video is watched; null when that is not known" });

const countryCodes = z.array(z.string().regex(/^[A-Z]{2}$/)).optional();
const countries = z
  .strictObject({ allowed: countryCodes, excluded: countryCodes })
  .meta({
    id: "Countries",
    description:
      "Where it may be played (ISO 3166-1 alpha-2), only where that is not everywhere; the player decides",
  })
  .optional();

const title_language = z.string().optional().meta({
  description: "Only where the title is in a language of the region, not the video's own: which (BCP 47)",
});

const made_for_kids = z
  .literal(true)
  .optional()
  .meta({ description: "Only of what is made for children: what visitors do with it is not counted" });

/** Of what an editor placed at its rank. */
const placement = {
  placed_by: z.enum(["editor", "sponsor"]).optional().meta({
    description:
      "Only where the rank is not the score's: who placed the video there. It is beside the limit by channel; `sponsor` is an advertisement, to be labelled as one",
  }),
  sponsor: z
    .strictObject({ name: z.string(), paid_by: z.string() })
    .meta({ id: "Sponsor", description: "On whose behalf it is shown, and who paid for it" })
    .optional(),
  model_rank: rank
    .nullable()
    .meta({
      id: "ModelRank",
      description: "Of a placed video: the rank that its score gives it; null where that is none",
    })
    .optional(),
};

/** Of a list by kind: one of them. */
const kindOfList = {
  language: z
    .string()
    .optional()
    .meta({ description: "Only of the list of a language: its primary subtag (BCP 47)" }),
  audience: z.string().optional().meta({ description: "Only of a list by audience" }),
  live: z.string().optional().meta({ description: "Only of the list of what was live" }),
  duration: z.string().optional().meta({ description: "Only of a list by duration" }),
};

const scoreUnit = z.enum(["views", "mixed", "clicks"]).meta({
  id: "ScoreUnit",
  description:
    "What a score counts over the window ahead. `views`: those forecast from view counts. `clicks`: those that the list would bring at its first rank. `mixed`: a weighted geometric mean of both, while few impressions are counted",
});

const channelLimit = z.strictObject({ videos: z.int().min(1), within_ranks: z.int().min(0) }).meta({
  id: "ChannelLimit",
  description:
    "At most this many videos of one channel within the first ranks, while others have one left; 0 ranks for no limit",
});

const expectations = {
  score: z.number().min(0).meta({
    description:
      "What orders the list, before the limit by channel and what editors placed; in the unit that `score_unit` says",
  }),
  expected_views: z.number().min(0).nullable().meta({
    id: "ExpectedViews",
    description:
      "Clicks that this place of the list is expected to bring in the window ahead; null where that is not known: before a day and a hundred clicks were counted",
  }),
};

const TrendingItem = z
  .strictObject({
    id: videoId,
    rank,
    previous_rank: rank.nullable().meta({
      description: "The rank in the same list at `previous_generated_at`; null when it was not in it",
    }),
    title: z.string(),
    title_language,
    channel: z.string(),
    category: z.string().nullable(),
    language: z.string().optional().meta({ description: "BCP 47; only where it is known" }),
    published_at: time.nullable(),
    duration_seconds: z.int().min(0).optional().meta({ description: "Only where it is known" }),
    live: z.enum(["scheduled", "now"]).optional().meta({ description: "Only of what is on air, or will be" }),
    ...expectations,
    velocity: z
      .strictObject({
        views_per_hour: viewsPerHour,
        previous_views_per_hour: viewsPerHour.nullable(),
        views: z
          .int()
          .min(0)
          .meta({ description: "Views counted so far; 0 where nobody has counted them for 48 hours" }),
      })
      .meta({ id: "Velocity" }),
    thumbs,
    url,
    countries,
    made_for_kids,
    ...placement,
  })
  .meta({ id: "TrendingItem" });

const TrendingChartItem = z
  .strictObject({
    ...TrendingItem.shape,
    sparkline: z.array(z.int().min(0).nullable()).length(sparklineHours).meta({
      description:
        "Views gained in this region in each of the 24 full hours that end with the latest full hour before `generated_at`, oldest first; null where that was not counted",
    }),
  })
  .meta({ id: "TrendingChartItem" });

const TrendingSnippet = z
  .strictObject({
    ...{ id: videoId, rank, title: z.string(), title_language },
    ...{ channel: z.string(), thumbs, url, countries, made_for_kids },
    ...placement,
  })
  .meta({ id: "TrendingSnippet" });

/** A page with items of one shape. */
function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    region,
    window,
    category: z
      .string()
      .nullable()
      .meta({ description: "Null in the list over all categories, and in those by kind" }),
    ...kindOfList,
    generation,
    generated_at: time,
    previous_generated_at: time.nullable().meta({
      description:
        "When the list was made that `previous_rank` is from: about an hour before, less while there is no hour of history; null without any",
    }),
    newest_observed_at: time.nullable().meta({ description: "The time of this region's newest view count" }),
    channel_limit: channelLimit,
    score_unit: scoreUnit,
    count: z.int().min(0).max(listLengths.largestPage),
    total: z.int().min(0).meta({ description: "Ranks in the whole list" }),
    token: z.string().max(longestToken).meta({
      description:
        "A JWS (RFC 7515, EdDSA) that proves that this page was served in this minute; valid for 15 minutes. The same for everybody",
    }),
    items: z.array(item).max(listLengths.largestPage),
    next: z.string().nullable().meta({ description: "The next page of this generation, null on the last" }),
  });
}

const TrendingPage = pageOf(TrendingItem).meta({ id: "TrendingPage" });
export type TrendingItem = Widened<z.infer<typeof TrendingItem>>;
export type TrendingPage = Widened<z.infer<typeof TrendingPage>>;

/** The page of `fields=chart`. */
const TrendingChartPage = pageOf(TrendingChartItem).meta({ id: "TrendingChartPage" });
export type TrendingChartItem = Widened<z.infer<typeof TrendingChartItem>>;
export type TrendingChartPage = Widened<z.infer<typeof TrendingChartPage>>;

/** The page of `fields=snippet`. */
const TrendingSnippetPage = pageOf(TrendingSnippet).meta({ id: "TrendingSnippetPage" });
export type TrendingSnippet = Widened<z.infer<typeof TrendingSnippet>>;
export type TrendingSnippetPage = Widened<z.infer<typeof TrendingSnippetPage>>;

const Video = z
  .strictObject({
    id: videoId,
    title: z.string(),
    channel: z.string(),
    category: z.string().nullable(),
    language: z.string().nullable().meta({ description: "BCP 47" }),
    published_at: time.nullable(),
    duration_seconds: z.int().min(0).nullable(),
    thumbs,
    url,
    countries,
    made_for_kids,
    live: z
      .enum(["scheduled", "now", "recorded"])
      .optional()
      .meta({ description: "Only of what is on air, will be, or was and is a recording" }),
    tags: z.array(z.string()).optional(),
    licence: z.string().optional().meta({ description: "An SPDX id or a name" }),
    titles: z.record(z.string(), z.string()).optional().meta({ description: "By language (BCP 47)" }),
    pictures: z.array(z.strictObject({ url: z.url(), width: pixels, height: pixels })).optional(),
    generation,
    generated_at: time,
    trending: z
      .array(
        z.strictObject({
          region,
          window,
          category: z.string().nullable(),
          rank,
          ...expectations,
          score_unit: scoreUnit,
          ...placement,
        }),
      )
      .meta({
        description:
          "Its ranks in this generation, in the lists over all categories and in those of categories",
      }),
    history: z
      .array(
        z.strictObject({
          region,
          observations: z.array(z.strictObject({ observed_at: time, views: z.int().min(0) })),
        }),
      )
      .meta({ description: "The latest view counts per region, newest first" }),
  })
  .meta({ id: "Video" });
export type Video = Widened<z.infer<typeof Video>>;

const RegionList = z
  .strictObject({
    generation: generation.meta({
      description:
        "The published ranking that is the newest; of all regions, unless they have rankings of their own",
    }),
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
        language_lists: z
          .array(z.string())
          .meta({ description: "What `language` of /api/trending may be in this region" }),
        audience_lists: z.array(z.string()).meta({ description: "The same of `audience`" }),
        live_lists: z.array(z.string()).meta({ description: "The same of `live`" }),
        duration_lists: z.array(z.string()).meta({ description: "The same of `duration`" }),
        video_count: z.int().min(0),
        newest_observed_at: time.nullable(),
        generation: generation.nullable().meta({
          description:
            "The newest ranking of this region: the same for all, unless several writers share the regions; null when there is none here",
        }),
        oldest_generation: z
          .int()
          .min(1)
          .nullable()
          .meta({ description: "The oldest ranking of this region that is kept" }),
        generated_at: time
          .nullable()
          .meta({ description: "When the newest ranking of this region was published" }),
      }),
    ),
  })
  .meta({ id: "RegionList" });
export type RegionList = Widened<z.infer<typeof RegionList>>;

const PublicKeys = z
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
        delegated_to: z.literal("edge").optional().meta({
          description: "An edge without an origin signs with it what it makes of the origin's lists",
        }),
      }),
    ),
  })
  .meta({ id: "PublicKeys", description: "JWK set (RFC 7517)" });
export type PublicKeys = z.infer<typeof PublicKeys>;

const ProblemDocument = z
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

export type Problem = z.infer<typeof ProblemDocument>;

/** The parameters of /api/trending, as a client writes them. */
export type TrendingParameters = Partial<TrendingQuery>;

/** The answers for people who ask why: why a video is where it is, and how the lists are made. */

const share = z.number().min(0).max(1);
const views = z.int().min(0);

const Explanation = z
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
        ...expectations,
        score_unit: scoreUnit,
        ...placement,
      })
      .nullable()
      .meta({ description: "Null when it is not in this list" }),
    absence: z
      .strictObject({
        reason: z
          .enum([
            "rule",
            "review",
            "country",
            "new",
            "unpublished",
            "not-counted",
            "few-impressions",
            "channel-limit",
            "score",
          ])
          .meta({
            description:
              "An editors' rule; it waits for an editor, or was not allowed in time; its sources say that it may not be played there; the list is older than what is known of it; its source says that it is published later; its source does not count it any more; too few impressions to rank it by; the limit by channel; a score below that of the last rank",
          }),
        score: z.number().min(0).nullable().meta({
          description:
            "Null where it is not stored: where impressions weigh and it has none or is far from the list, or nobody counts its views",
        }),
        score_unit: scoreUnit,
        last_rank: z.int().min(0).meta({ description: "Of the list; 0 when it has none" }),
        last_score: z.number().min(0).nullable().meta({ description: "The score of that rank" }),
        impressions: z
          .number()
          .min(0)
          .nullable()
          .meta({ description: "In the lists; null where none are counted" }),
      })
      .nullable()
      .meta({ description: "Why it is not in this list, and how far from it; null when it is" }),
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
      .meta({ description: "Null when nobody counts its views in this region: nobody has for 48 hours" }),
    forecast: z
      .strictObject({
        window_hours: z.int().min(1),
        age_starts_at: time.meta({
          description:
            "Without a time of publication: 76 hours before the first count; where clicks rank, when it was first seen",
        }),
        is_age_assumed: z.boolean().meta({
          description:
            "Whether the time of publication is not known, or is later than the video was first known: then it is as old as that",
        }),
        taper_hours: z
          .number()
          .min(0)
          .meta({ description: "The rate falls with the square of (age + this)" }),
      })
      .nullable()
      .meta({ description: "What the score was computed from, with the rate; null for a video in no list" }),
    channel_limit: channelLimit,
    rule: z.strictObject({ factor: share, reason: z.string().nullable() }).optional().meta({
      description:
        "Only where editors made one: what multiplies its scores, 0 for never, and why where that is public",
    }),
    tags: z.array(z.string()).optional(),
    licence: z.string().optional(),
    lifted: z.array(z.string()).min(1).optional().meta({
      description: "Only where editors lifted some: fields of its sources' lines that do not restrict it",
    }),
    visitors: z
      .strictObject({
        impressions: z.number().min(0).meta({
          description: "In the lists; older ones count less, and those before a burst less still or not",
        }),
        clicks: z.number().min(0).meta({ description: "As impressions" }),
        weight: share.meta({ description: "How much they weigh against the forecast in this region" }),
        click_through_rate: share.meta({
          description: "Clicks per impression at the first rank; an estimate",
        }),
        prior_click_through_rate: share.meta({ description: "The same before any impression was counted" }),
        upper_click_through_rate: share.meta({ description: "One standard deviation above the estimate" }),
        is_held: z.boolean().meta({
          description:
            "Whether impressions say more than views elsewhere let them, so that not all of it counts",
        }),
      })
      .nullable()
      .meta({
        description: "Sums over all visitors; null where impressions are not counted, or it is in no list",
      }),
  })
  .meta({ id: "Explanation" });
export type Explanation = Widened<z.infer<typeof Explanation>>;

const About = z
  .strictObject({
    generation,
    generated_at: time,
    formula: z.string(),
    windows: z.array(z.strictObject({ name: z.enum(windows), hours: z.int().min(1) })),
    channel_limit: channelLimit,
    sources: z
      .array(
        z.strictObject({
          kind: z.enum(Object.keys(sourceKinds) as SourceKind[]),
          host: z.string().nullable().meta({ description: "Null when it is no other host's" }),
        }),
      )
      .nullable()
      .meta({ description: "Where counts come from; null when that is not known" }),
    explore_share: share.nullable().meta({
      description: "Of all impressions, the share that may go to videos above the ranks they have earned",
    }),
    removed_videos: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: "Videos that were taken down and are in no list" }),
    thumb_hosts: z.array(z.string()).meta({
      description: "Hosts whose pictures this site shows, beside its own; the element asks for them",
    }),
    impressions_counted: z.boolean().meta({ description: "Whether impressions took part in any region" }),
    languages: z
      .record(z.string(), z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])))
      .optional()
      .meta({
        description:
          "Words of the site's own languages by tag (BCP 47), which the element asks for; only where it has any",
      }),
  })
  .meta({ id: "About", description: "What is in force: how the lists of this generation were made" });
export type About = Widened<z.infer<typeof About>>;

const { generated_at, previous_generated_at, newest_observed_at, channel_limit, score_unit, total } =
  TrendingPage.shape;
const count = z.int().min(0);

/** The first line of an export. */
const ExportHead = z
  .strictObject({
    region,
    generation,
    generated_at,
    previous_generated_at,
    newest_observed_at,
    channel_limit,
    score_unit,
    lists: z.array(z.strictObject({ window, count, total })).meta({
      description: "The lists that follow, in this order: `count` is the lines of one, `total` its last rank",
    }),
    count: count.meta({ description: "The lines that follow; fewer came: the transfer broke off" }),
  })
  .meta({ id: "ExportHead", description: "The first line of an export" });
export type ExportHead = Widened<z.infer<typeof ExportHead>>;

/** Each further line. */
const ExportItem = z
  .strictObject({ window, ...TrendingItem.shape })
  .meta({ id: "ExportItem", description: "A further line of an export: a rank of one of its lists" });
export type ExportItem = Widened<z.infer<typeof ExportItem>>;

/** The schemas of the answers, for their description and for tests. */
export const schemas = {
  About,
  Explanation,
  ExportHead,
  ExportItem,
  ProblemDocument,
  PublicKeys,
  RegionList,
  TrendingChartPage,
  TrendingItem,
  TrendingPage,
  TrendingSnippetPage,
  Video,
};
