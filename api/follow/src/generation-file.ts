import { Database } from "bun:sqlite";
import { closeSync, createReadStream, createWriteStream, openSync, readSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { objectNames, type Pointer } from "@trendvault/contract/pointer";
import { supportedSchemaVersion } from "../../src/database/schema-version.ts";
import { FollowFailure, localFailure } from "./failure.ts";
import type { ObjectStore } from "./stores.ts";

/**
 * Downloads, unpacks and checks the generation that a pointer names. @throws FollowFailure; the caller deletes the files
 */
export async function fetchGenerationFile(
  store: ObjectStore,
  { generation, file }: Pick<Pointer, "generation" | "file">,
  { packed, path, signal }: { packed: string; path: string; signal: AbortSignal },
): Promise<void> {
  const name = objectNames.generation({ generation, sha256: file.sha256 });
  await downloadObject(store, { name, ...file }, { path: packed, signal });
  await unpack(packed, path);
  checkGenerationFile(path, generation);
}

/** Checks that a file is one whole generation that this program and its origin can read. @throws FollowFailure */
function checkGenerationFile(path: string, generation: number): void {
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

/** What an object must be: the pointer says so. */
type ExpectedObject = { name: string; sha256: string; bytes: number };

/**
 * Writes an object to a file, if it is the one that is expected: so many bytes with that SHA-256 (base64url).
 *
 * @throws FollowFailure, which leaves a part of the file
 */
async function downloadObject(
  store: ObjectStore,
  { name, sha256, bytes }: ExpectedObject,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<void> {
  const opened = await store.open(name, { signal });
  if (opened === null || opened === "unchanged")
    throw new FollowFailure("missing", `${store.address}/${name} is not there, but the pointer names it.`);
  const received = await write(opened.body, { path, largest: bytes });
  if (received.bytes === bytes && received.sha256 === sha256) return;
  const found = received.bytes > bytes ? "more" : `${received.bytes}`;
  throw new FollowFailure(
    "wrong_object",
    `${store.address}/${name} is not what was signed: ${found} bytes with the SHA-256 ${received.sha256}, expected ${bytes} with ${sha256}. ` +
      "It is asked for again; if that does not help, see who can write there.",
  );
}

/** Stops after `largest` bytes. */
async function write(
  body: AsyncIterable<Uint8Array>,
  { path, largest }: { path: string; largest: number },
): Promise<{ bytes: number; sha256: string }> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  const file = await openFile(path);
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > largest) break;
      hasher.update(chunk);
      await writeChunk(file, chunk, path);
    }
  } finally {
    await file.close();
  }
  return { bytes, sha256: hasher.digest("base64url") };
}

type FileHandle = Awaited<ReturnType<typeof open>>;

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "w", 0o640);
  } catch (error) {
    throw localFailure(error, path);
  }
}

async function writeChunk(file: FileHandle, chunk: Uint8Array, path: string): Promise<void> {
  try {
    for (let written = 0; written < chunk.length; ) {
      written += (await file.write(chunk, written)).bytesWritten;
    }
  } catch (error) {
    throw localFailure(error, path);
  }
}

// A generation becomes about three times as large. Deflate can make a thousand times.
const largestRatio = 32;
const smallestLimit = 64 * 1024 * 1024; // bytes: for small files, which are mostly empty pages

/** Unpacks a gzip file beside itself. @throws FollowFailure when it is none, or makes an unlikely large one */
async function unpack(packed: string, path: string): Promise<void> {
  const limit = Math.max(smallestLimit, (await stat(packed)).size * largestRatio);
  const bounded = async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      yield chunk;
    }
  };
  try {
    await pipeline(
      createReadStream(packed),
      createGunzip(),
      bounded,
      createWriteStream(path, { mode: 0o640 }),
    );
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith("Z_")) throw localFailure(error, path);
    const found = (error as Error).message;
    throw new FollowFailure("unreadable_file", `The object is no whole gzip file (${found}). ${remedy}`);
  }
}

function tooLarge(limit: number): FollowFailure {
  return new FollowFailure(
    "unreadable_file",
    `The object unpacks to more than ${limit} bytes, ${largestRatio} times what it has. ${remedy}`,
  );
}

const remedy = "The writer signed it: see what it publishes.";
