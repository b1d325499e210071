import { regions } from "@trendvault/contract/regions";
import type { Explanation } from "@trendvault/contract/responses";

type Facts = Omit<Explanation, "sentences">;

/** What an explanation says, in a few plain sentences. They say no more than its fields. */
export function explanationSentences(facts: Facts): string[] {
  return [placeSentence(facts), countsSentence(facts), limitSentence(facts), looksSentence(facts)].filter(
    (sentence) => sentence !== null,
  );
}

function placeSentence(facts: Facts): string {
  const { title, place, region, window } = facts;
  const list = `the list of ${nameOf(region)} for the next ${periods[window]}, over all categories`;
  if (place === null) return `“${title}” is not in ${list}.`;
  const { rank, total, score } = place;
  return `“${title}” is at rank ${rank} of ${total} in ${list}: ${scoreText(score, facts)}.`;
}

/** A score in which looks weigh is no number of views: it is a mean of two (docs/ranking.md). */
function scoreText(score: number, { counts, looks }: Facts): string {
  if (looks === null || looks.weight === 0) {
    return `it is expected to get ${number(score)} ${counts === null ? "" : "more "}views there in that time`;
  }
  const weight = number(100 * looks.weight);
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
  return `A channel has at most ${videos} videos in the first ${within_ranks} ranks; without that limit it would be ${rank}.`;
}

function looksSentence({ looks, place }: Facts): string | null {
  if (looks === null) return null;
  const appeal = `Of those who look at it here when it is new, ${number(100 * looks.appeal)} % are expected to open it`;
  return place?.is_explored === true
    ? `${appeal}; it is above the rank that it has earned, so that something is learned of it.`
    : `${appeal}.`;
}

const periods: Record<string, string> = { now: "6 hours", day: "24 hours", week: "7 days" };

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
