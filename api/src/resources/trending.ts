import { kindOf } from "@trendvault/contract/lists";
import {
  listRefusals,
  missing,
  nextPageUrl,
  pageInToken,
  parseTrendingQuery,
  readCursor,
  sparklineHours,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/queries";
import type {
  TrendingChartPage,
  TrendingPage,
  TrendingSnippetPage,
  Video,
} from "@trendvault/contract/responses";
import { tokenListName } from "@trendvault/contract/token";
import type { ListedChoices, ListReader } from "../database/list-reader.ts";
import type { Generation, ListPage, ListRow } from "../database/store.ts";
import { idPlace } from "../settings.ts";
import {
  type Content,
  formatTime,
  formatTimeOrNull,
  jsonContentType,
  Refusal,
  type Resource,
  type TextAroundToken,
  TokenContent,
  unpublishedRegion,
} from "./resource.ts";

/** What pages are made from. */
export type PageSources = { lists: ListReader; linkOf: VideoLinks };

/** The page that a query string (without its "?") selects, or why it selects none. */
export function trendingResource(search: string, sources: PageSources): Resource | Refusal {
  const { query, invalid } = parseTrendingQuery(`?${search}`); // a second "?" is part of a name
  if (query === null) return Refusal.ofParameters(invalid);
  return {
    url: trendingUrl(query),
    route: "trending",
    read: (generation) => readTrending(query, generation, sources),
  };
}

/** A page of a list in a generation, for what is made of it, too. */
export function readTrending(
  query: TrendingQuery,
  generation: Generation,
  { lists, linkOf }: PageSources,
): Content | Refusal {
  const { cursor } = query;
  const newest = generation.regions.get(query.region);
  if (newest === undefined) return unpublishedRegion;
  const start = cursor === undefined ? null : readCursor(cursor);
  const isOfAnother = start !== null && start.generation !== newest.id; // it may have had the list
  const unlisted = isOfAnother ? null : refuseUnlisted(query, () => lists.choicesOf(generation));
  if (unlisted !== null) return unlisted;
  const list = start === null ? lists.readFirstPage(query, generation) : lists.readListPage(query, start);
  if (list === null) return refuseCursor(query, newest);
  if (start !== null && start.afterRank >= list.total) return pastTheEnd;
  const extent = { generation: list.generation.id, total: list.total };
  const body = { contentType: jsonContentType, next: nextPageUrl(query, extent), endsAt: list.endsAt };
  const inToken = pageInToken(query, extent, tokenListName(query, sha256));
  return new TokenContent(inToken, body, () => writePage(query, list, linkOf));
}

function refuseUnlisted(query: TrendingQuery, choices: () => ListedChoices): Refusal | null {
  const { region, category } = query;
  if (category !== undefined) {
    const { categories } = choices();
    return categories.has(category) ? null : Refusal.of(listRefusals.unknownCategory(categories));
  }
  const refusal = listRefusals.unlistedKind(query, (kind) => choices().listedIn(region, kind));
  return refusal && Refusal.of(refusal);
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}

// Where several writers share the regions, the numbers of one have gaps: no page ever had such a cursor.
function refuseCursor(query: TrendingQuery, { id, oldestId }: { id: number; oldestId: number }): Refusal {
  const { generation } = readCursor(query.cursor ?? "");
  return generation > oldestId && generation < id
    ? neverPublished
    : Refusal.of(listRefusals.generationGone(query));
}

const neverPublished = new Refusal("not-found", "This region never had a generation with this number.");
const pastTheEnd = new Refusal("not-found", missing.page);

/** A page, but for its token. */
function writePage(query: TrendingQuery, list: ListPage, linkOf: VideoLinks): TextAroundToken {
  const text = JSON.stringify(describePage(query, list, linkOf));
  return { text, tokenAt: text.indexOf(noToken) + noToken.length - 1 }; // within a string, its quotes would be escaped
}

type AnyItem = (TrendingPage | TrendingChartPage | TrendingSnippetPage)["items"][number];
type AnyPage = Omit<TrendingPage, "items"> & { items: AnyItem[] };

const noToken = '"token":""';

function describePage(query: TrendingQuery, list: ListPage, linkOf: VideoLinks): AnyPage {
  const { generation } = list;
  const by = kindOf(query);
  return {
    region: query.region,
    window: query.window,
    category: query.category ?? null,
    ...(by !== null && { [by.kind]: by.value }),
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    previous_generated_at: formatTimeOrNull(generation.previousAt),
    newest_observed_at: formatTimeOrNull(list.newestObservedAt),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    score_unit: scoreUnitOf(list.impressionWeight),
    count: list.rows.length,
    total: list.total,
    token: "",
    items: describeItems(query, list, linkOf),
    next: nextPageUrl(query, { generation: generation.id, total: list.total }),
  };
}

function describeItems(
  { fields, titles }: TrendingQuery,
  { rows: all, generation: { publishedAt } }: ListPage,
  linkOf: VideoLinks,
): AnyItem[] {
  const rows = titles === undefined ? all : all.map((row) => inLanguage(titles, row));
  switch (fields) {
    case undefined:
      return rows.map((row) => describeItem(row, linkOf));
    case "snippet":
      return rows.map((row) => describeSnippet(row, linkOf));
    case "chart":
      return rows.map((row) => ({
        ...describeItem(row, linkOf),
        sparkline: sparklineOf(row, publishedAt),
      }));
  }
}

/** A row with its title in a language, where it has one, by the rule that the writer chooses a region's by. */
function inLanguage(language: string, row: ListRow): ListRow {
  const isSame = (tag: string) => tag.toLowerCase() === language.toLowerCase();
  const isNear = (tag: string) => tag.split("-")[0]?.toLowerCase() === language.toLowerCase();
  const titles: Record<string, string> = JSON.parse(row.titles ?? "{}");
  const tags = Object.keys(titles).sort();
  const own = row.language ?? "";
  const tag = tags.find(isSame) ?? (isSame(own) ? undefined : tags.find(isNear));
  if (tag === undefined && !isNear(own)) return row;
  const title = tag === undefined ? row.title : titles[tag];
  return { ...row, title_in_region: title === row.title ? null : `${tag} ${title}` };
}

function describeSnippet(row: ListRow, linkOf: VideoLinks): TrendingSnippetPage["items"][number] {
  const { video_id: id, rank, channel } = row;
  return {
    id,
    rank,
    ...shownTitleOf(row),
    channel,
    thumbs: thumbsOf(row.thumbs),
    url: linkOf(id, row.url),
    ...marksOf(row),
    ...placementOf(row),
  };
}

/** The unit of a region's scores, from how much impressions weigh there (0 to 1, or null). */
export function scoreUnitOf(impressionWeight: number | null): TrendingPage["score_unit"] {
  if (impressionWeight === null || impressionWeight === 0) return "views";
  return impressionWeight < 1 ? "mixed" : "clicks";
}

/** A rank as pages have it. */
export function describeItem(row: ListRow, linkOf: VideoLinks): TrendingPage["items"][number] {
  return {
    id: row.video_id,
    rank: row.rank,
    previous_rank: row.previous_rank,
    ...shownTitleOf(row),
    channel: row.channel,
    category: row.category,
    ...(row.language !== null && { language: row.language }),
    published_at: formatTimeOrNull(row.published_at),
    ...(row.duration_seconds !== null && { duration_seconds: row.duration_seconds }),
    ...(row.live !== null && row.live !== "recorded" && { live: row.live }),
    score: roundToTenth(row.score),
    expected_views: row.expected_views === null ? null : roundToTenth(row.expected_views),
    velocity: {
      views_per_hour: roundToTenth(row.views_per_hour),
      previous_views_per_hour:
        row.previous_views_per_hour === null ? null : roundToTenth(row.previous_views_per_hour),
      views: row.views,
    },
    thumbs: thumbsOf(row.thumbs),
    url: linkOf(row.video_id, row.url),
    ...marksOf(row),
    ...placementOf(row),
  };
}

/** The title that a region is shown, and its language, where that is not the video's own. */
export function shownTitleOf({
  title,
  title_in_region: shown,
}: Pick<ListRow, "title" | "title_in_region">): Pick<
  TrendingPage["items"][number],
  "title" | "title_language"
> {
  if (shown === null) return { title };
  const space = shown.indexOf(" ");
  return { title: shown.slice(space + 1), title_language: shown.slice(0, space) };
}

/** Who placed a video at its rank, when its score did not. */
export function placementOf({
  placed,
}: Pick<ListRow, "placed">): Pick<TrendingPage["items"][number], "placed_by" | "sponsor" | "model_rank"> {
  return placed === null ? {} : JSON.parse(placed);
}

/** What few videos have and who shows them has to know: where it may be played, and that it is for children. */
export function marksOf({
  countries,
  made_for_kids,
}: Pick<ListRow, "countries" | "made_for_kids">): Pick<Video, "countries" | "made_for_kids"> {
  return {
    ...(countries !== null && { countries: JSON.parse(countries) }),
    ...(made_for_kids === 1 && { made_for_kids: true }),
  };
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

const hourSeconds = 3600;

/**
 * The views gained in each of the 24 full hours that end with the latest full hour before `publishedAt` (Unix seconds),
 * oldest first; null where nobody counted, and beside a count that contradicts most of the others: views never fall.
 */
export function sparklineOf({ hour, hourly_views }: ListRow, publishedAt: number): (number | null)[] {
  const counts: (number | null)[] = hourly_views == null ? [] : JSON.parse(hourly_views);
  const series = seriesOf(counts);
  const last = counts.length - 1 + Math.floor(publishedAt / hourSeconds) - (hour ?? 0);
  return Array.from({ length: sparklineHours }, (_, index) => {
    const end = last - sparklineHours + 1 + index;
    const [before = null, after = null] = [counts[end - 1], counts[end]];
    return before === null || after === null || series[end - 1] !== series[end] ? null : after - before;
  });
}

/** For each count the series that it is of: the first is the longest one that never falls, and so on with the rest. */
function seriesOf(counts: readonly (number | null)[]): number[] {
  const series = counts.map(() => 0);
  const known = counts.flatMap((count, index) => (count === null ? [] : [{ count, index }]));
  let rest = known.some(({ count }, n) => count < (known[n - 1]?.count ?? 0)) ? known : [];
  for (let number = 1; rest.length > 0; number++) {
    for (const { index } of longestRising(rest)) series[index] = number;
    rest = rest.filter(({ index }) => series[index] === 0);
  }
  return series;
}

function longestRising<Counted extends { count: number }>(all: readonly Counted[]): readonly Counted[] {
  const longest = (ones: readonly Counted[][]) =>
    ones.reduce((found, one) => (one.length >= found.length ? one : found), []);
  const rising: Counted[][] = []; // the longest that ends with each
  for (const one of all) {
    rising.push([...longest(rising.filter((before) => (before.at(-1)?.count ?? 0) <= one.count)), one]);
  }
  return longest(rising);
}

/** What an address of a picture ends with: a base that ends so is a picture itself, and has one size. */
const picture = /[^/:]\/.*\.(?:jpe?g|png|webp|avif|gif)$/i;

/** The pictures of a video, the larger one first: its `thumbs`, which is JSON, or made from its `thumb_base`. */
export function thumbsOf(base: string): [string, string] {
  if (base.startsWith("[")) return JSON.parse(base);
  return picture.test(base) ? [base, base] : [`${base}/hq.webp`, `${base}/sd.webp`];
}

/** Gives where a video is watched: the URL that came with its data, else one made of the setting; null without both. */
type VideoLinks = (id: string, url: string | null) => string | null;

/** `template` is VIDEO_URL, with `{id}` once; null when it is not set. */
export function videoLinks(template: string | null): VideoLinks {
  if (template === null) return (_, url) => url;
  const [before = "", after = ""] = template.split(idPlace);
  return (id, url) => url ?? before + encodeURIComponent(id) + after;
}
