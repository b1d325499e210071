import { describeHours, windowHours } from "@trendvault/contract/lists";
import { explanationUrl, missing, parseExplainQuery } from "@trendvault/contract/queries";
import { regions } from "@trendvault/contract/regions";
import type { Explanation } from "@trendvault/contract/responses";
import type { Ranking } from "../database/generation.ts";
import type { ExplanationKey, ExplanationRecord } from "../database/store.ts";
import { fixedContent, formatTime, jsonBody, Refusal, type Resource, unpublishedRegion } from "./resource.ts";

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
  if (query === null) return Refusal.ofParameters(invalid);
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
    visitors: describeVisitors(record),
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

function describeVisitors({ parts }: ExplanationRecord): Explanation["visitors"] {
  if (parts === null || parts.visitors === null) return null;
  const { impressions, clicks, weight, is_held, ...rates } = parts.visitors;
  return {
    impressions: roundTo(impressions, 1),
    clicks: roundTo(clicks, 1),
    weight: roundTo(weight, 3),
    click_through_rate: roundTo(rates.click_through_rate, 5),
    prior_click_through_rate: roundTo(rates.prior_click_through_rate, 5),
    upper_click_through_rate: roundTo(rates.upper_click_through_rate, 5),
    is_held,
  };
}

function roundTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

type Facts = Omit<Explanation, "sentences">;

/** What an explanation says, in a few plain sentences. They say no more than its fields. */
export function explanationSentences(facts: Facts): string[] {
  return [placeSentence(facts), countsSentence(facts), limitSentence(facts), visitorsSentence(facts)].filter(
    (sentence) => sentence !== null,
  );
}

function placeSentence(facts: Facts): string {
  const { title, place, region, window } = facts;
  const list = `the list of ${nameOf(region)} for the next ${describeHours(windowHours[window])}, over all categories`;
  if (place === null) return `“${title}” is not in ${list}.`;
  const { rank, total, score } = place;
  return `“${title}” is at rank ${rank} of ${total} in ${list}: ${scoreText(score, facts)}.`;
}

/** A score in which impressions weigh is no number of views: it is a mean of two (docs/ranking.md). */
function scoreText(score: number, { counts, visitors }: Facts): string {
  if (visitors === null || visitors.weight === 0) {
    return `it is expected to get ${number(score)} ${counts === null ? "" : "more "}views there in that time`;
  }
  const weight = number(100 * visitors.weight);
  return (
    `its score of ${number(score)} is a mean of the views expected in that time and of those that the first rank of ` +
    `the list would bring it, which weigh ${weight} %`
  );
}

function countsSentence({ counts, forecast, generated_at }: Facts): string {
  const age = forecast === null ? "" : ageText(forecast, generated_at);
  if (counts === null) return `Its views there are not counted elsewhere${age && `; it is ${age}`}.`;
  const { views, counted_at, views_per_hour } = counts;
  const growth = `gaining ${number(views_per_hour)} an hour`;
  return `It had ${number(views)} views when they were counted on ${timeText(counted_at)}, ${growth}${age && `; it is ${age}, and growth slows with age`}.`;
}

function ageText({ age_starts_at, is_age_assumed }: NonNullable<Facts["forecast"]>, now: string): string {
  const hours = Math.max(0, Date.parse(now) - Date.parse(age_starts_at)) / 3_600_000;
  const age = hours < 48 ? `${number(hours)} hours old` : `${number(hours / 24)} days old`;
  return is_age_assumed ? `assumed to be ${age}` : age;
}

function limitSentence({ place, channel_limit: { videos, within_ranks } }: Facts): string | null {
  if (place === null || place.rank_without_channel_limit === place.rank) return null;
  const without = place.rank_without_channel_limit;
  const rank = without === null ? "beyond the end of the list" : `at rank ${without}`;
  return `A channel has at most ${videos} videos in the first ${within_ranks} ranks, while others have one left; without that limit it would be ${rank}.`;
}

function visitorsSentence({ visitors, place }: Facts): string | null {
  if (visitors === null) return null;
  const rate = `Of those who see it here, ${number(100 * visitors.click_through_rate)} % are expected to open it`;
  return place?.is_explored === true
    ? `${rate}; it is above the rank that it has earned, so that something is learned of it.`
    : `${rate}.`;
}

function nameOf(region: string): string {
  return regions.find(({ code }) => code === region)?.name ?? region;
}

function timeText(time: string): string {
  formats ??= makeFormats();
  return `${formats.time.format(new Date(time))} UTC`;
}

function number(value: number): string {
  formats ??= makeFormats();
  return (value < 100 ? formats.tenths : formats.whole).format(value);
}

let formats: ReturnType<typeof makeFormats> | undefined;

/** Made with the first sentence: Intl takes longer to make them than all sentences of an explanation. */
function makeFormats() {
  return {
    time: new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }),
    tenths: new Intl.NumberFormat("en", { maximumFractionDigits: 1 }),
    whole: new Intl.NumberFormat("en", { maximumFractionDigits: 0 }),
  };
}
