import type { Database } from "bun:sqlite";

/**
 * What the writer stored of a video's place, each as JSON: its parts, and where the limit by channel changed a window's
 * ranks.
 */
export type StoredParts = { parts: string; limited: string | null };

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
