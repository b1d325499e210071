import type { Database } from "bun:sqlite";
import type { Window } from "@trendvault/contract/lists";
import type { Explanation } from "@trendvault/contract/responses";
import { isRemovedSql } from "./videos.ts";

/** Why a video is where it is, as the writer stored it. Times are Unix seconds. */
export type ExplanationRecord = {
  video: { id: string; title: string; channel: string; category: string | null; published_at: number | null };
  made: {
    formula: string;
    taper_hours: number | null;
    max_per_channel: number;
    max_per_channel_ranks: number;
  };
  place: PlaceRow | null;
  counts: CountsRow | null;
  /** Null for a video that is in none of the lists over all categories. */
  parts: Parts | null;
};

type PlaceRow = {
  rank: number;
  score: number;
  total: number;
  is_explored: 0 | 1;
};

type CountsRow = {
  views: number;
  counted_at: number;
  views_per_hour: number;
  rated_at: number;
  previous_views_per_hour: number | null;
};

type Parts = {
  ageStartsAt: number;
  /** By rank, where the limit by channel changed it: the rank without it, null beyond the list's end. */
  limited: Record<number, number | null>;
  /** Null where looks do not take part. */
  looks: Looks | null;
};

type Looks = NonNullable<Explanation["looks"]>;

type RankedRow = {
  look_weight: number | null;
  views: number;
  views_per_hour: number;
  previous_views_per_hour: number | null;
};

/** How lists were made: null where an older writer did not store it. */
export type RankingMetadata = {
  formula: string;
  sources: string | null;
  explore_share: number | null;
  removed_videos: number | null;
  looks_counted: 0 | 1 | null;
};

/** What is asked for: a video's place in the list of a region and window over all categories. */
export type ExplanationKey = { id: string; region: string; window: Window };

const videoSql = `SELECT id, title, channel, category, published_at FROM videos
  WHERE id = ?1 AND NOT (${isRemovedSql})
    AND (EXISTS (SELECT 1 FROM velocity WHERE video_id = ?1 AND region = ?2)
      OR EXISTS (SELECT 1 FROM catalogue WHERE video_id = ?1 AND region = ?2)
      OR EXISTS (SELECT 1 FROM trending WHERE generation = ?3 AND video_id = ?1 AND region = ?2))`;

const madeSql = `SELECT formula, taper_hours, max_per_channel, max_per_channel_ranks FROM generations WHERE id = ?1`;

const placeSql = `SELECT t.rank, round(t.score, 1) AS score,
    (SELECT max(rank) FROM trending WHERE generation = ?1 AND region = ?2 AND window = ?4 AND category = '') AS total,
    e.rank IS NOT NULL AS is_explored
  FROM trending AS t INDEXED BY trending_by_video
  LEFT JOIN explored_ranks AS e USING (generation, region, window, category, rank)
  WHERE t.generation = ?1 AND t.region = ?2 AND t.video_id = ?3 AND t.window = ?4 AND t.category = ''`;

const rankedSql = `SELECT look_weight, t.views, t.views_per_hour, t.previous_views_per_hour
  FROM trending AS t INDEXED BY trending_by_video
  JOIN generation_regions USING (generation, region)
  WHERE generation = ?1 AND region = ?2 AND t.video_id = ?3 AND t.category = '' LIMIT 1`;

const velocitySql = `SELECT views, last_observed_at AS counted_at, views_per_hour, rated_at, previous_views_per_hour
  FROM velocity WHERE video_id = ?1 AND region = ?2`;

/** What is stored about a video's place; null when nothing is known of it in that region. Call it in a transaction. */
export function readExplanation(
  database: Database,
  generation: number,
  { id, region, window, readParts }: ExplanationKey & { readParts: ReadParts },
): ExplanationRecord | null {
  const video = database
    .query<ExplanationRecord["video"], [string, string, number]>(videoSql)
    .get(id, region, generation);
  const made = database.query<ExplanationRecord["made"], [number]>(madeSql).get(generation);
  if (video === null || made === null) return null;
  const key: [number, string, string] = [generation, region, id];
  const place = database.query<PlaceRow, [...typeof key, string]>(placeSql).get(...key, window);
  const ranked = database.query<RankedRow, typeof key>(rankedSql).get(...key);
  const stored = ranked === null ? null : readParts(generation, { id, region, window });
  if (ranked === null || stored === null) {
    const counts = database.query<CountsRow, [string, string]>(velocitySql).get(id, region);
    return { video, made, place, counts, parts: null };
  }
  return { video, made, place, ...describeParts(ranked, stored) };
}

// The order is that of the writer's ExplainedVideo.php.
type PartValues = [
  counted_at: number | null,
  count: number,
  rated_at: number,
  age: number,
  ...looks: LookValues,
];
type LookValues = [] | [number, number, number, number, number, boolean];

function describeParts(
  { views, views_per_hour, previous_views_per_hour, look_weight }: RankedRow,
  { parts, limited }: StoredParts,
): Pick<ExplanationRecord, "counts" | "parts"> {
  const [counted_at, , rated_at, ageStartsAt, ...looks]: PartValues = JSON.parse(parts);
  const counts =
    counted_at === null ? null : { views, counted_at, views_per_hour, rated_at, previous_views_per_hour };
  const places = JSON.parse(limited ?? "{}");
  return { counts, parts: { ageStartsAt, limited: places, looks: readLooks(looks, look_weight) } };
}

function readLooks([looks, ...more]: LookValues, weight: number | null): Looks | null {
  if (looks === undefined || weight === null) return null;
  const [views = 0, expected_appeal = 0, appeal = 0, tried_appeal = 0, is_held = false] = more;
  return { looks, views, weight, appeal, expected_appeal, tried_appeal, is_held };
}

/** How the lists of a generation were made, or null when it is gone. */
export function readMetadata(database: Database, generation: number): RankingMetadata | null {
  const sql = `SELECT formula, sources, explore_share, removed_videos, looks_counted FROM generations WHERE id = ?`;
  return database.query<RankingMetadata, [number]>(sql).get(generation);
}

/**
 * What the writer stored of a video's place, each as JSON: its parts, and where the limit by channel changed a window's
 * ranks.
 */
type StoredParts = { parts: string; limited: string | null };

type Key = { id: string; region: string; window: string };

/** Gives null where nothing is stored. Call it in a transaction. */
export type ReadParts = (generation: number, key: Key) => StoredParts | null;

// The characters of an id need no escaping within the quotes of a path.
const partsSql = `SELECT json_extract(parts, '$."' || ?3 || '"') AS parts, json_extract(limited, '$.' || ?4) AS limited
  FROM explanations WHERE generation = ?1 AND region = ?2`;

/** Reads a video's parts alone: as long as the parts of a whole region are parsed for it, some 0.3 milliseconds. */
export function extractParts(database: Database): ReadParts {
  type Row = { parts: string | null; limited: string | null };
  return (generation, { id, region, window }) => {
    const query = database.query<Row, [number, string, string, string]>(partsSql);
    const row = query.get(generation, region, id, window);
    return row?.parts == null ? null : { parts: row.parts, limited: row.limited };
  };
}

const membersOf = (column: string) =>
  `SELECT key, value FROM explanations, json_each(${column}) WHERE generation = ?1 AND region = ?2`;

/** The same from memory, for who asks for many videos of a region one after another: it keeps those of the last one. */
export function keepParts(database: Database): ReadParts {
  const read = (column: string, key: [number, string]) => {
    type Member = { key: string; value: string };
    const members = database.query<Member, typeof key>(membersOf(column)).all(...key);
    return new Map(members.map((member) => [member.key, member.value]));
  };
  let kept = { of: "", parts: new Map<string, string>(), limited: new Map<string, string>() };
  return (generation, { id, region, window }) => {
    const of = `${generation} ${region}`;
    if (kept.of !== of) {
      kept = {
        of,
        parts: read("parts", [generation, region]),
        limited: read("limited", [generation, region]),
      };
    }
    const parts = kept.parts.get(id);
    return parts === undefined ? null : { parts, limited: kept.limited.get(window) ?? null };
  };
}
