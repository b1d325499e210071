import type { Database } from "bun:sqlite";

/**
 * Whether the row of `videos` was taken down, by itself or with its channel: two looks into an index. The first EXISTS is
 * the same for all rows, so that SQLite evaluates it once: without removals a page takes a third less.
 */
export const isRemovedSql = `EXISTS (SELECT 1 FROM removals)
    AND (EXISTS (SELECT 1 FROM removals WHERE kind = 'video' AND name = videos.id)
    OR EXISTS (SELECT 1 FROM removals WHERE kind = 'channel' AND name = videos.channel))`;

/** Rises with every removal, and when one is undone: both change pages of generations that stay as they are. */
export function readRemovalsVersion(database: Database): number {
  return database.query<{ version: number }, []>("SELECT version FROM removals_version").get()?.version ?? 0;
}
