import type { Database } from "bun:sqlite";

export type VideoRow = {
  id: string;
  title: string;
  channel: string;
  category: string | null;
  language: string | null;
  published_at: number | null;
  duration_seconds: number | null;
  thumb_base: string;
};

/** A rank in a list. Category '' is the list over all categories. */
export type Place = { region: string; window: string; category: string; rank: number; score: number };

export type Observation = { region: string; observed_at: number; views: number };

/** A video, where it stands in a generation, and its newest observations per region, newest first. */
export type VideoRecord = { video: VideoRow; places: Place[]; observations: Observation[] };

const observationsPerRegion = 48;

const videoSql = `SELECT id, title, channel, category, language, published_at, duration_seconds, thumb_base
  FROM videos WHERE id = ?1`;

const placesSql = `SELECT region, window, category, rank, round(score, 1) AS score
  FROM trending WHERE generation = ?1 AND video_id = ?2 ORDER BY region, window, category`;

// Follows each region's chain backwards from its newest observation: the table is ordered by time, so that
// looking for a video in it would read all of it.
const observationsSql = `WITH RECURSIVE chain (region, observed_at, views, previous_observed_at, length) AS (
    SELECT o.region, o.observed_at, o.views, o.previous_observed_at, 1
    FROM velocity v JOIN observations o
      ON o.observed_at = v.last_observed_at AND o.region = v.region AND o.video_id = v.video_id
    WHERE v.video_id = ?1
    UNION ALL
    SELECT o.region, o.observed_at, o.views, o.previous_observed_at, length + 1
    FROM chain c JOIN observations o
      ON o.observed_at = c.previous_observed_at AND o.region = c.region AND o.video_id = ?1
    WHERE length < ${observationsPerRegion}
  )
  SELECT region, observed_at, views FROM chain ORDER BY region, observed_at DESC`;

/** Prepares the statements once; what comes back reads one video. Call that inside a transaction. */
export function videoStatements(database: Database) {
  const video = database.query<VideoRow, [string]>(videoSql);
  const places = database.query<Place, [number, string]>(placesSql);
  const observations = database.query<Observation, [string]>(observationsSql);
  return (id: string, generation: number): VideoRecord | null => {
    const found = video.get(id);
    if (found === null) return null;
    return { video: found, places: places.all(generation, id), observations: observations.all(id) };
  };
}
