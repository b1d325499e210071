import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { forgetSeed } from "./database-files.ts";

/** Throws when another process listens on the port; `option` is the option that chooses another. */
export async function assertPortFree(
  host: string,
  { port, option }: { port: number; option: string },
): Promise<void> {
  const server = createServer();
  const outcome = await new Promise<NodeJS.ErrnoException | null>((done) => {
    server
      .once("error", done)
      .once("listening", () => done(null))
      .listen(port, host);
  });
  if (outcome === null) return void server.close();
  if (outcome.code === "EADDRINUSE")
    throw new Error(`Port ${port} is in use: stop what listens there, or choose another with ${option}`);
  throw new Error(`Cannot listen on ${host}:${port}: ${outcome.message}`);
}

/** Throws when the source cannot be read. */
export function assertReadable(source: string): void {
  if (!existsSync(source))
    throw new Error(
      `There is no source at ${source}: expected an NDJSON file (plain or .gz) or a folder of them`,
    );
  try {
    accessSync(source, constants.R_OK);
  } catch {
    throw new Error(`Cannot read the source ${source}: check its permissions`);
  }
}

/** Deletes a TrendVault database with its -wal and -shm. Throws, deleting nothing, when the file is something else. */
export function removeDatabase(path: string): void {
  if (existsSync(path) && !isTrendVaultDatabase(path)) {
    throw new Error(`Will not delete ${path}: it is not a TrendVault database`);
  }
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  forgetSeed(path);
}

function isTrendVaultDatabase(path: string): boolean {
  try {
    using database = new Database(path, { readonly: true });
    const sql =
      "SELECT count(*) AS n FROM sqlite_schema WHERE name IN ('schema_migrations', 'generations', 'trending')";
    return database.query<{ n: number }, []>(sql).get()?.n === 3;
  } catch {
    return false; // not a database at all: the caller says so
  }
}
