import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { supportedSchemaVersion } from "../../../src/database/schema-version.ts";
import { FollowFailure } from "../failure.ts";
import { readSchemaVersion, requireWhole } from "../object/check-file.ts";
import type { KeptGeneration } from "./expired.ts";

/**
 * The generations in the local file; null when there is no file that new ones can be added to: none at all, one of
 * another version, or a damaged one (with `isChecked`, all of it is read to see that).
 */
export function readContents(
  path: string,
  { isChecked }: { isChecked: boolean },
): { generations: KeptGeneration[] } | { generations: null; reason: string } {
  if (!existsSync(path)) return { generations: null, reason: "there is no file" };
  let database: Database | null = null;
  try {
    database = new Database(path, { readonly: true, strict: true });
    if (isChecked) requireWhole(database);
    if (readSchemaVersion(database) !== supportedSchemaVersion)
      return { generations: null, reason: "its schema has another version" };
    return { generations: readGenerations(database) };
  } catch (error) {
    const reason = error instanceof FollowFailure ? "it is damaged" : (error as Error).message;
    return { generations: null, reason };
  } finally {
    database?.close();
  }
}

export function readGenerations(database: Database): KeptGeneration[] {
  const rows = database
    .query<{ id: number; published_at: number; regions: string }, []>(
      `SELECT id, published_at, (SELECT json_group_array(region) FROM generation_regions WHERE generation = id) AS regions
        FROM generations ORDER BY id`,
    )
    .all();
  return rows.map((row) => ({
    id: row.id,
    publishedAt: row.published_at,
    regions: JSON.parse(row.regions),
  }));
}

/** The newest generation of each region. */
export function newestOfRegions(generations: readonly KeptGeneration[]): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { id, regions } of generations)
    for (const region of regions) newest.set(region, Math.max(id, newest.get(region) ?? 0));
  return newest;
}
