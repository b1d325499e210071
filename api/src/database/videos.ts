import type { Database } from "bun:sqlite";
import type { Window } from "@trendvault/contract/lists";
import historySql from "../../../db/queries/video-history.sql" with { type: "text" };
import type { Generation } from "./generation.ts";

/**
 * Whether the row of `videos` was taken down, by itself or with its channel: two looks into an index. The first EXISTS is
 * the same for all rows, so that SQLite evaluates it once: without removals a page takes a third less.
 */
export const isRemovedSql = `EXISTS (SELECT 1 FROM removals)
    AND (EXISTS (SELECT 1 FROM removals WHERE kind = 'video' AND name = videos.id)
    OR EXISTS (SELECT 1 FROM removals WHERE kind = 'channel' AND name = videos.channel))`;

type VideoRow = {
  id: string;
  title: string;
  channel: string;
  category: string | null;
  language: string | null;
  published_at: number | null;
  duration_seconds: number | null;
  thumb_base: string;
  url: string | null;
};

/** A rank in a list, whose name (contract/lists.ts) is in `category`. */
export type ListPlace = { region: string; window: Window; category: string; rank: number; score: number };

type Observation = { region: string; observed_at: number; views: number };

/** A video, its ranks in a generation, and its newest observations per region, newest first. */
export type VideoRecord = { video: VideoRow; places: ListPlace[]; observations: Observation[] };

const observationsPerRegion = 48;

const videoSql = `SELECT id, title, channel, category, language, published_at, duration_seconds, thumb_base, url
  FROM videos WHERE id = ?1 AND NOT (${isRemovedSql})`;

// Left to itself, SQLite reads the whole generation, because the primary key has the order that is asked for, too.
export const placesSql = `SELECT region, window, category, rank, round(score, 1) AS score
  FROM trending INDEXED BY trending_by_video
  WHERE generation = ?1 AND video_id = ?2 ORDER BY region, window, category`;

/** Prepares the statements once; the returned function reads one video, inside a transaction. */
export function prepareVideoQuery(database: Database) {
  const video = database.query<VideoRow, [string]>(videoSql);
  const places = database.query<ListPlace, [number, string]>(placesSql);
  const observations = database.query<Observation, [string, number, null]>(historySql);
  return (id: string, generation: Generation): VideoRecord | null => {
    const found = video.get(id);
    if (found === null) return null;
    return {
      video: found,
      places: joinPlaces(generation, (ranking) => places.all(ranking, id)),
      observations: observations.all(id, observationsPerRegion, null),
    };
  };
}

/** The ranks in the newest ranking of each region, in the order of one ranking's. */
function joinPlaces({ rankings, regions }: Generation, read: (ranking: number) => ListPlace[]): ListPlace[] {
  const [only, ...others] = rankings;
  if (only !== undefined && others.length === 0) return read(only.id);
  return rankings
    .flatMap(({ id }) => read(id).filter(({ region }) => regions.get(region)?.id === id))
    .sort((left, right) => Number(left.region > right.region) - Number(left.region < right.region));
}
