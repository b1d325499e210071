import type { Database } from "bun:sqlite";

/** What is read row by row, in slices; the lists of `trending` are read one by one. */
export type WalkedTable = "videos" | "velocity" | "observations" | "trending_by_video";

const rowsPerSlice = 1000;

// The lengths make SQLite read the whole row. A slice ends with a value of the key's first column, and the next one
// begins after it: at most a few rows on a page that was read are passed over.
const slices: Record<WalkedTable, string> = {
  videos: slice("id", "length(title) + length(thumb_base)", "videos"),
  velocity: slice("video_id", "description_hash", "velocity"),
  observations: slice("observed_at", "previous_observed_at", "observations"),
  trending_by_video: slice("video_id", "0", "trending INDEXED BY trending_by_video", " AND generation = ?2"),
};

function slice(key: string, read: string, source: string, where = ""): string {
  return `SELECT max(key) AS last, total(read) FROM (SELECT ${key} AS key, ${read} AS read FROM ${source}
    WHERE ${key} > ?1${where} ORDER BY ${key} LIMIT ${rowsPerSlice})`;
}

/** Reads the rows after a key (null: from the first one). Gives the last key that was read, or null at the end. */
export function walk(
  database: Database,
  table: WalkedTable,
  { after, generation }: { after: string | number | null; generation: number },
): string | number | null {
  type Slice = { last: string | number | null };
  const first = table === "observations" ? Number.MIN_SAFE_INTEGER : "";
  const query = database.query<Slice, (string | number)[]>(slices[table]);
  const key = after ?? first;
  const row = table === "trending_by_video" ? query.get(key, generation) : query.get(key);
  return row?.last ?? null;
}

// A count alone is read from the heads of pages; with a sum SQLite has to read the rows.
const rowsSql = `SELECT
  (SELECT count(*) + 0 * total(views) FROM trending NOT INDEXED WHERE generation = ?1) AS listed,
  (SELECT count(*) + 0 * total(length(video_id)) FROM trending INDEXED BY trending_by_video WHERE generation = ?1) AS indexed`;

/**
 * Compares the lists of a generation with the index of their videos: where a page has lost its rows, SQLite may give a
 * shorter list and no error. Reads all of both. @throws Error when one has more rows than the other
 */
export function requireSameRows(database: Database, generation: number): void {
  const rows = database.query<{ listed: number; indexed: number }, [number]>(rowsSql).get(generation);
  if (rows === null || rows.listed === rows.indexed) return;
  throw new Error(
    `the lists of generation ${generation} have ${rows.listed} rows, their index ${rows.indexed}`,
  );
}
