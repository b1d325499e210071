/** The schema that the origin was written for, and that of the files that a follower takes. A test compares it with db/migrations. */
export const supportedSchemaVersion = 47;
/** The oldest schema that the origin serves from, so that it can be upgraded before the writer (docs/decisions/0013). */
export const oldestReadableVersion = 27;

/**
 * Whether the origin can serve from a database of a schema version. What a newer one means only its writer knows:
 * `oldestReader` is the oldest version whose origins can read it (SQLite's user_version; 0 where no writer has said it).
 */
export function canRead(version: number, oldestReader: number): boolean {
  if (version <= supportedSchemaVersion) return version >= oldestReadableVersion;
  return oldestReader > 0 && oldestReader <= supportedSchemaVersion;
}
