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
 * Records which source the database was filled from (null: the demo). A later bin/up runs the demo in its cron only on
 * a database of the demo, so that made-up videos never mix with real ones.
 */
export function recordSeed(db: string, source: string | null): void {
  writeFileSync(seedPath(db), source ?? "demo");
}

export function isSeededWithDemo(db: string): boolean {
  return existsSync(seedPath(db)) && readFileSync(seedPath(db), "utf8") === "demo";
}

export function forgetSeed(db: string): void {
  rmSync(seedPath(db), { force: true });
}

function seedPath(db: string): string {
  return `${db}.seeded-with`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it runs, as another user
  }
}
