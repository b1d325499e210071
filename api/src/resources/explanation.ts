import { describeHours, listLengths, uncountedHours, windowHours, windows } from "@trendvault/contract/lists";
import { explanationUrl, missing, parseExplainQuery } from "@trendvault/contract/queries";
import { regions } from "@trendvault/contract/regions";
import type { Explanation } from "@trendvault/contract/responses";
import type { ExplanationKey, ExplanationRecord, Generation } from "../database/store.ts";
import { fixedContent, formatTime, jsonBody, Refusal, type Resource, unpublishedRegion } from "./resource.ts";
import { placementOf, scoreUnitOf, shownTitleOf } from "./trending.ts";

type ExplanationReader = {
  readExplanation(key: ExplanationKey, generation: number): ExplanationRecord | null;
  hasVideo(id: string): boolean;
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
      if (record === null) return reader.hasVideo(id) ? elsewhere : unknown;
      const body = jsonBody(JSON.stringify(describe(record, key, region)));
      const ends = [record.video.available_until, record.place?.placed_until];
      return fixedContent({ ...body, endsAt: Math.min(...ends.map((end) => end ?? Infinity)) });
    },
  };
}

const unknown = new Refusal("not-found", missing.explanation);
const elsewhere = new Refusal(
  "not-found",
  "This video is known, but nothing has counted or announced it in this region.",
);

function describe(
  record: ExplanationRecord,
  { region, window }: ExplanationKey,
  generation: Pick<Generation, "id" | "publishedAt">,
) {
  const { video, made } = record;
  const facts: Omit<Explanation, "sentences"> = {
    id: video.id,
    title: shownTitleOf(video).title,
    channel: video.channel,
    category: video.category,
    region,
    window,
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    formula: made.formula,
    place: describePlace(record),
    absence: describeAbsence(record, { id: video.id, region, window }),
    counts: describeCounts(record),
    forecast: describeForecast(record, window),
    channel_limit: { videos: made.max_per_channel, within_ranks: made.max_per_channel_ranks },
    ...describeRule(record),
    ...describeDetails(video.details),
    ...(record.lifted.length === 0 ? {} : { lifted: record.lifted }),
    visitors: describeVisitors(record),
  };
  return { ...facts, sentences: explanationSentences(facts) } satisfies Explanation;
}

function describeRule({ rule }: ExplanationRecord): Pick<Explanation, "rule"> {
  if (rule === null || rule.review_until !== undefined) return {};
  return { rule: { factor: rule.factor, reason: rule.reason } };
}

function describeDetails(details: string | null): Pick<Explanation, "tags" | "licence"> {
  const { tags, licence } = JSON.parse(details ?? "{}");
  return { ...(tags && { tags }), ...(licence && { licence }) };
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
    expected_views: place.expected_views,
    score_unit: scoreUnitOf(place.look_weight),
    ...placementOf(place),
  };
}

const fewImpressions = 100; // below that, the prior says more than they do
const clockToleranceSeconds = 300; // a source's clock may be ahead by so much
const assumedAgeHours = 76; // when it was first counted, of a video without a time of publication

function describeAbsence(
  { absence, counts, made, video, parts, rule }: ExplanationRecord,
  { region, window }: ExplanationKey,
): Explanation["absence"] {
  if (absence === null) return null;
  const { look_weight, last_rank, last_score } = absence;
  const score_unit = scoreUnitOf(look_weight);
  const starts = Math.min(
    video.published_at ?? absence.known_since - assumedAgeHours * 3600,
    absence.known_since,
  );
  const forecasted =
    counts === null || made.taper_hours === null || score_unit !== "views"
      ? null
      : roundTo(
          (rule?.factor ?? 1) *
            forecast(counts, absence.published_at, starts, made.taper_hours, windowHours[window]),
          1,
        );
  const score = parts?.scores[windows.indexOf(window)] ?? forecasted;
  const seen = parts?.visitors?.impressions ?? absence.impressions;
  const impressions = seen === null ? null : roundTo(seen, 1);
  const facts = { score, score_unit, last_rank, last_score, impressions };
  const decided = rule?.review_until === undefined ? "rule" : "review";
  const isDecided = rule?.factor === 0 && !mayNotBePlayed(video.countries, region);
  const reason = isDecided ? decided : reasonOf({ absence, counts, made, video }, facts, region);
  return { reason, ...facts };
}

type AbsenceFacts = Omit<NonNullable<Explanation["absence"]>, "reason">;
type Compared = Pick<ExplanationRecord, "counts" | "made" | "video"> & {
  absence: NonNullable<ExplanationRecord["absence"]>;
};

function reasonOf(compared: Compared, facts: AbsenceFacts, region: string): string {
  const outside = keptOutBy(compared, region);
  if (outside !== null) return outside;
  if (isListOlder(compared, facts)) return "new";
  const isAbove = facts.score === null ? isChannelFull(compared) : facts.score > (facts.last_score ?? 0);
  if (isAbove) return "channel-limit";
  return facts.score_unit !== "views" && (facts.impressions ?? 0) < fewImpressions
    ? "few-impressions"
    : "score";
}

/** Whether its channel has in the list what the limit lets it have, to the end: whatever its score. */
function isChannelFull({ absence: { of_channel, last_rank }, made }: Compared): boolean {
  return made.max_per_channel_ranks >= last_rank && of_channel >= made.max_per_channel;
}

/** What keeps it out of all lists of the region, whatever its score. */
function keptOutBy({ absence, counts, video }: Compared, region: string): string | null {
  if (mayNotBePlayed(video.countries, region)) return "country";
  if (counts === null) {
    const latest = absence.published_at + clockToleranceSeconds;
    return (video.published_at ?? 0) > latest ? "unpublished" : null;
  }
  const oldest = (absence.newest_observed_at ?? 0) - uncountedHours * 3600;
  return counts.counted_at < oldest ? "not-counted" : null;
}

function mayNotBePlayed(countries: string | null, region: string): boolean {
  const { allowed, excluded }: { allowed?: string[]; excluded?: string[] } = JSON.parse(countries ?? "{}");
  return allowed?.includes(region) === false || excluded?.includes(region) === true;
}

/** Whether more is known now than when the list was made: that would bring the video there, or may do so. */
function isListOlder(
  { absence: { known_since, came_at, published_at }, counts, made }: Compared,
  { score, last_rank, last_score }: AbsenceFacts,
): boolean {
  const hadRoom = last_rank < listLengths.longest.all;
  if (hadRoom || Math.max(known_since, came_at) > published_at) return true; // a source may date its lines back
  const isLimited = made.max_per_channel_ranks >= last_rank; // further down the limit takes nothing out
  const isCountedSince = counts !== null && counts.counted_at > published_at;
  return (score ?? 0) > (last_score ?? 0) && (isCountedSince || !isLimited);
}

/** The formula of docs/ranking.md; times are Unix seconds. */
function forecast(
  { views_per_hour, rated_at }: NonNullable<ExplanationRecord["counts"]>,
  now: number,
  starts: number,
  taper: number,
  hours: number,
): number {
  const age = (at: number) => Math.max(0, at - starts) / 3600 + taper;
  return (views_per_hour * hours * age(rated_at) ** 2) / (age(now) * (age(now) + hours));
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
    is_age_assumed: (video.published_at ?? Infinity) > parts.ageStartsAt,
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
  return [
    placeSentence(facts),
    liftedSentence(facts),
    countsSentence(facts),
    limitSentence(facts),
    visitorsSentence(facts),
  ].filter((sentence) => sentence !== null);
}

function placeSentence(facts: Facts): string {
  const { title, place, region, window } = facts;
  const list = `the list of ${nameOf(region)} for the next ${describeHours(windowHours[window])}, over all categories`;
  if (place === null) return `“${title}” is not in ${list}${absenceText(facts)}.`;
  return `“${title}” is at rank ${place.rank} of ${place.total} in ${list}: ${placedText(place)}${scoreText(place, facts)}.`;
}

function placedText({ placed_by, sponsor, model_rank }: NonNullable<Facts["place"]>): string {
  if (placed_by === undefined) return "";
  const who =
    placed_by === "sponsor"
      ? `it is an advertisement on behalf of ${sponsor?.name}, paid by ${sponsor?.paid_by}`
      : "an editor placed it there";
  const own = model_rank == null ? "its score gives it no rank" : `its score gives it rank ${model_rank}`;
  return `${who}, beside the limit by channel; ${own}: `;
}

/** What a score counts follows from its unit (docs/ranking.md); an explored video has none of its own. */
function scoreText(place: NonNullable<Facts["place"]>, { counts, visitors, rule }: Facts): string {
  const { score, score_unit, is_explored, expected_views } = place;
  const texts = {
    views:
      counts === null
        ? "nobody counts its views, so its age places it"
        : `it is expected to get ${number(score)} more views there in that time`,
    mixed:
      `its score of ${number(score)} is a geometric mean of the views forecast for that time and of the clicks that the ` +
      `first rank would bring, which weigh ${number(100 * (visitors?.weight ?? 0))} %`,
    clicks: `the first rank would bring it ${number(score)} clicks in that time`,
  };
  const text = is_explored
    ? "it is above the rank that it has earned, so that something is learned of it"
    : rule === undefined
      ? texts[score_unit as keyof typeof texts]
      : `a rule of the editors${reasonText(rule)} multiplies its score with ${rule.factor}, which makes ${number(score)}`;
  return expected_views === null
    ? text
    : `${text}; this place is expected to bring ${number(expected_views)} clicks in that time`;
}

function reasonText({ reason }: NonNullable<Facts["rule"]>): string {
  return reason === null ? "" : ` (${reason})`;
}

function absenceText({ absence, counts, channel_limit, rule }: Facts): string {
  if (absence === null) return "";
  const { score, score_unit, last_rank, last_score, impressions } = absence;
  const ruled =
    rule === undefined
      ? ""
      : `, which a rule of the editors${reasonText(rule)} multiplies with ${rule.factor},`;
  const own = (score === null ? "its score" : `its score of ${number(score)}`) + ruled;
  const compared = `${own} is below that of the last rank, ${last_rank}: ${number(last_score ?? 0)}`;
  const isByAge = counts === null && score_unit === "views";
  const low = isByAge ? `its age places it behind the last rank, ${last_rank}` : compared;
  const texts = {
    rule: `: a rule of the editors${rule === undefined ? "" : reasonText(rule)} keeps it out`,
    review: ": editors have not allowed it",
    new: "; the list is older than what is known of it now",
    country: ": its sources say that it may not be played there",
    unpublished: ": it is not published yet, and nobody counts it",
    "not-counted": `: its views have not been counted for ${uncountedHours} hours`,
    "few-impressions": `: ${impressions ? `it has ${impressionsText(impressions)} only` : "nobody has seen it in these lists"}, and ${low}`,
    "channel-limit": `: a channel has at most ${channel_limit.videos} videos in the first ${channel_limit.within_ranks} ranks, and the list ends before its place behind them`,
    score: `: ${low}`,
  };
  return texts[absence.reason as keyof typeof texts];
}

function liftedSentence({ lifted }: Facts): string | null {
  return lifted === undefined ? null : `Editors lifted what its sources say: ${lifted.join(", ")}.`;
}

function impressionsText(impressions: number): string {
  return counted(impressions, "impression");
}

/** "1 hour", "1.5 hours". */
function counted(value: number, unit: string): string {
  const said = number(value);
  return `${said} ${unit}${said === "1" ? "" : "s"}`;
}

function countsSentence({ counts, forecast, place, absence, generated_at }: Facts): string {
  const age = forecast === null ? "" : ageText(forecast, generated_at);
  if (counts === null) return `Nobody counts its views there${age && `; it is ${age}`}.`;
  const { views, counted_at, views_per_hour } = counts;
  const growth = `gaining ${number(views_per_hour)} an hour`;
  const isByClicks = (place ?? absence)?.score_unit === "clicks"; // then its age slows nothing
  return `It had ${number(views)} views when they were counted on ${timeText(counted_at)}, ${growth}${age && `; it is ${age}${isByClicks ? "" : ", and growth slows with age"}`}.`;
}

function ageText({ age_starts_at, is_age_assumed }: NonNullable<Facts["forecast"]>, now: string): string {
  const hours = Math.max(0, Date.parse(now) - Date.parse(age_starts_at)) / 3_600_000;
  const age = hours < 48 ? `${counted(hours, "hour")} old` : `${counted(hours / 24, "day")} old`;
  return is_age_assumed ? `assumed to be ${age}` : age;
}

function limitSentence({ place, channel_limit: { videos, within_ranks } }: Facts): string | null {
  if (place === null || place.placed_by !== undefined || place.rank_without_channel_limit === place.rank)
    return null;
  const without = place.rank_without_channel_limit;
  const rank = without === null ? "beyond the end of the list" : `at rank ${without}`;
  return `A channel has at most ${videos} videos in the first ${within_ranks} ranks, while others have one left; without that limit it would be ${rank}.`;
}

function visitorsSentence({ visitors }: Facts): string | null {
  if (visitors === null) return null;
  const { impressions, click_through_rate: rate, prior_click_through_rate: prior } = visitors;
  const expected = `are expected to open it at the first rank`;
  return impressions > 0
    ? `Of those who see it there, ${number(100 * rate)} % ${expected}, by ${impressionsText(impressions)}.`
    : `Nobody has seen it in these lists yet; ${number(100 * prior)} % of those who see it ${expected}.`;
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
