import { Database } from "bun:sqlite";
import { closeSync, openSync, readSync } from "node:fs";
import { supportedSchemaVersion } from "../../../src/database/schema-version.ts";
import { FollowFailure } from "../failure.ts";

/** Checks that a file is one whole generation that this program and its origin can read. @throws FollowFailure */
export function checkGenerationFile(path: string, generation: number): void {
  requireRollbackMode(path);
  let database: Database | null = null;
  try {
    database = new Database(path, { readonly: true, strict: true });
    requireWhole(database);
    requireSchema(readSchemaVersion(database));
    requireGeneration(database, generation);
  } catch (error) {
    throw error instanceof FollowFailure ? error : unreadable((error as Error).message);
  } finally {
    database?.close();
  }
}

/** The version of a database's newest migration; 0 for none. Throws what SQLite throws for another database. */
export function readSchemaVersion(database: Database): number {
  const sql = "SELECT ifnull(max(version), 0) AS version FROM schema_migrations";
  return database.query<{ version: number }, []>(sql).get()?.version ?? 0;
}

/** @throws FollowFailure with what SQLite's quick_check found */
export function requireWhole(database: Database): void {
  const found = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check;
  if (found !== "ok") throw unreadable(String(found));
}

function requireSchema(version: number): void {
  if (version === supportedSchemaVersion) return;
  const remedy = version > supportedSchemaVersion ? "update this machine" : "update the writer";
  throw new FollowFailure(
    "other_schema",
    `The object's schema is version ${version}, this program reads version ${supportedSchemaVersion}: ${remedy}.`,
  );
}

function requireGeneration(database: Database, generation: number): void {
  const ids = database.query<{ id: number }, []>("SELECT id FROM generations LIMIT 2").all();
  if (ids.length === 1 && ids[0]?.id === generation) return;
  const found = ids.map(({ id }) => id).join(", ") || "none";
  throw unreadable(`it has the generations ${found}, expected ${generation} alone`);
}

// Bytes 18 and 19 of the header are 1, or 2 for a file that needs a WAL beside it (sqlite.org/fileformat.html).
function requireRollbackMode(path: string): void {
  const header = Buffer.alloc(20);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  const isSqlite = header.toString("latin1", 0, 16) === "SQLite format 3\0";
  if (!isSqlite) throw unreadable("it does not begin as one");
  if (header[18] !== 1 || header[19] !== 1) throw unreadable("it is in WAL mode, expected DELETE");
}

function unreadable(found: string): FollowFailure {
  const remedy = "See what the writer publishes; the generation of before is served";
  return new FollowFailure(
    "unreadable_file",
    `The object is no whole SQLite file of ours: ${found}. ${remedy}.`,
  );
}
