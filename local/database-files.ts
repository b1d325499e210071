import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/**
 * Keeps a second bin/up off the same database: both would run the writer, and rankings would come and go twice
 * as fast. Returns a function that releases the database.
 *
 * @throws Error when another bin/up is running on it
 */
export function lockDatabase(db: string): () => void {
  const path = `${db}.up.pid`;
  const holder = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
  if (holder > 0 && holder !== process.pid && isRunning(holder)) {
    throw new Error(`Another bin/up runs on ${db} (process ${holder}): stop it, or choose another with --db`);
  }
  writeFileSync(path, String(process.pid));
  return () => rmSync(path, { force: true });
}

/**
 * Remembers what the database was filled from (null: the demo), since the cron goes on with it: the demo's videos
 * never mix with real ones.
 */
export function rememberFilledFrom(db: string, source: string | null): void {
  writeFileSync(filledFromPath(db), source ?? "demo");
}

export function isFilledFromDemo(db: string): boolean {
  return existsSync(filledFromPath(db)) && readFileSync(filledFromPath(db), "utf8") === "demo";
}

export function forgetFilledFrom(db: string): void {
  rmSync(filledFromPath(db), { force: true });
}

function filledFromPath(db: string): string {
  return `${db}.filled-from`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it runs, as another user
  }
}
