import { windowHours } from "@trendvault/contract/lists";
import { explanationUrl, missing, parseExplainQuery } from "@trendvault/contract/queries";
import type { Explanation } from "@trendvault/contract/responses";
import type { ExplanationKey, ExplanationRecord } from "../database/explanation-rows.ts";
import type { Ranking } from "../database/generation.ts";
import { jsonBody } from "./body.ts";
import { explanationSentences } from "./explanation-sentences.ts";
import { Refusal, unpublishedRegion } from "./refusal.ts";
import { fixedContent, type Resource } from "./resource.ts";
import { formatTime } from "./time-text.ts";
import { summarize } from "./trending-resource.ts";

type ExplanationReader = {
  readExplanation(key: ExplanationKey, generation: number): ExplanationRecord | null;
};

/** Why a video is where it is in the list that a query string (without its "?") names. */
export function explanationResource(
  id: string,
  search: string,
  reader: ExplanationReader,
): Resource | Refusal {
  const { query, invalid } = parseExplainQuery(`?${search}`);
  if (query === null) return new Refusal("invalid-parameter", summarize(invalid), { invalid });
  const key = { id, region: query.region, window: query.window };
  return {
    url: explanationUrl(id, query),
    route: "explanation",
    read(generation) {
      const region = generation.regions.get(key.region);
      if (region === undefined) return unpublishedRegion;
      const record = reader.readExplanation(key, region.id);
      if (record === null) return unknown;
      return fixedContent(jsonBody(JSON.stringify(describe(record, key, region))));
    },
  };
}

const unknown = new Refusal("not-found", missing.explanation);

function describe(record: ExplanationRecord, { region, window }: ExplanationKey, generation: Ranking) {
  const { video, made } = record;
  const facts: Omit<Explanation, "sentences"> = {
    id: video.id,
    title: video.title,
    channel: video.channel,
    category: video.category,
    region,
    window,
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    formula: made.formula,
    place: describePlace(record),
    counts: describeCounts(record),
    forecast: describeForecast(record, window),
    channel_limit: { videos: made.max_per_channel, within_ranks: made.max_per_channel_ranks },
    looks: describeLooks(record),
  };
  return { ...facts, sentences: explanationSentences(facts) } satisfies Explanation;
}

function describePlace({ place, parts }: ExplanationRecord): Explanation["place"] {
  if (place === null) return null;
  const unlimited = parts?.limited[place.rank];
  return {
    rank: place.rank,
    total: place.total,
    rank_without_channel_limit: unlimited === undefined ? place.rank : unlimited,
    is_explored: place.is_explored === 1,
    score: place.score,
  };
}

function describeCounts({ counts }: ExplanationRecord): Explanation["counts"] {
  if (counts === null) return null;
  return {
    views: counts.views,
    counted_at: formatTime(counts.counted_at),
    views_per_hour: roundTo(counts.views_per_hour, 1),
    rated_at: formatTime(Math.floor(counts.rated_at)),
    previous_views_per_hour:
      counts.previous_views_per_hour === null ? null : roundTo(counts.previous_views_per_hour, 1),
  };
}

function describeForecast(
  { video, made, parts }: ExplanationRecord,
  window: ExplanationKey["window"],
): Explanation["forecast"] {
  if (parts === null || made.taper_hours === null) return null;
  return {
    window_hours: windowHours[window],
    age_starts_at: formatTime(parts.ageStartsAt),
    is_age_assumed: video.published_at === null,
    taper_hours: made.taper_hours,
  };
}

function describeLooks({ parts }: ExplanationRecord): Explanation["looks"] {
  if (parts === null || parts.looks === null) return null;
  const { looks, views, weight, appeal, expected_appeal, tried_appeal, is_held } = parts.looks;
  return {
    looks: roundTo(looks, 1),
    views: roundTo(views, 1),
    weight: roundTo(weight, 3),
    appeal: roundTo(appeal, 5),
    expected_appeal: roundTo(expected_appeal, 5),
    tried_appeal: roundTo(tried_appeal, 5),
    is_held,
  };
}

function roundTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
