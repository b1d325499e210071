import type { Database } from "bun:sqlite";

/** A video that is in a list of a region and window, over all categories or of one. */
export type ListedVideo = { id: string; region: string; window: string };

const listedSql = `SELECT DISTINCT video_id AS id, region, window FROM trending INDEXED BY trending_by_video
  WHERE generation = ? ORDER BY video_id, region, window`;

/** The videos of all lists of a generation, in order. */
export function readListedVideos(database: Database, generation: number): ListedVideo[] {
  return database.query<ListedVideo, [number]>(listedSql).all(generation);
}
