import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/**
 * Keeps a second bin/up off the same database: both would run the writer, and rankings would come and go twice
 * as fast. Returns what gives the database back. Throws when a bin/up that is alive holds it.
 */
export function claimDatabase(db: string): () => void {
  const path = `${db}.up.pid`;
  const holder = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new Error(`Another bin/up runs on ${db} (process ${holder}): stop it, or choose another with --db`);
  }
  writeFileSync(path, String(process.pid));
  return () => rmSync(path, { force: true });
}

/** What the cron ingests goes on where the filling came from: invented videos never mix with real ones. */
export function rememberFilling(db: string, source: string | null): void {
  writeFileSync(fillingPath(db), source ?? "demo");
}

export function wasFilledByDemo(db: string): boolean {
  return existsSync(fillingPath(db)) && readFileSync(fillingPath(db), "utf8") === "demo";
}

export function forgetFilling(db: string): void {
  rmSync(fillingPath(db), { force: true });
}

function fillingPath(db: string): string {
  return `${db}.filled-from`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // alive, and another user's
  }
}
