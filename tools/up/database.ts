import { Database } from "bun:sqlite";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Aborting the signal ends the command that runs. */
export type WriterOptions = { root: string; db: string; env: Record<string, string>; signal: AbortSignal };

/** The exit code when a source ended early or is missing; what it gave is stored (docs/operations.md). */
export const SOURCE_FAILED = 4;

export class WriterFailed extends Error {
  constructor(
    command: string,
    readonly exitCode: number,
  ) {
    super(`writer ${command} failed (exit code ${exitCode}); see its message above`);
  }
}

/**
 * Runs one writer command; its messages go to our standard error.
 *
 * @throws WriterFailed
 */
export async function runWriter(args: readonly string[], options: WriterOptions): Promise<void> {
  const exitCode = await untilExit(spawnWriter(args, options, "ignore"), options.signal);
  if (exitCode !== 0) throw new WriterFailed(args[0] ?? "", exitCode);
}

/**
 * How many videos the database has of each region, most first.
 *
 * @throws WriterFailed
 */
export async function countVideos(options: WriterOptions): Promise<{ region: string; videos: number }[]> {
  const child = spawnWriter(["status", "--json"], options, "pipe");
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new WriterFailed("status", child.exitCode ?? 0);
  const status = JSON.parse(output) as { regions: { region: string; videos: number }[] };
  return status.regions.sort((left, right) => right.videos - left.videos);
}

/**
 * True when the database holds no observation yet.
 *
 * @throws WriterFailed
 */
export async function isEmpty(options: WriterOptions): Promise<boolean> {
  return (await countVideos(options)).every(({ videos }) => videos === 0);
}

/** Runs `writer cron` every `intervalMs` until the signal aborts. A failed run is reported; the next one tries again. */
export async function runEvery(
  intervalMs: number,
  options: WriterOptions,
  signal: AbortSignal,
): Promise<void> {
  while (await sleep(intervalMs, signal)) {
    const exitCode = await untilExit(spawnWriter(["cron"], options, "ignore"), signal);
    if (exitCode !== 0 && !signal.aborted) {
      console.error(`The writer's run failed (exit code ${exitCode}); it runs again in a minute.`);
    }
  }
}

async function untilExit(child: Bun.Subprocess, signal: AbortSignal): Promise<number> {
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  const exitCode = await child.exited;
  signal.removeEventListener("abort", stop);
  return exitCode;
}

/** Resolves with true after the time, with false as soon as the signal aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, true, { signal }).catch(() => false);
}

function spawnWriter(args: readonly string[], { root, db, env }: WriterOptions, stdout: "ignore" | "pipe") {
  const command = [join(root, "writer/bin/writer"), ...args, "--db", db];
  return Bun.spawn(command, { cwd: root, env, detached: true, stdin: "ignore", stdout, stderr: "inherit" });
}

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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it runs, as another user
  }
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
    const database = new Database(path, { readonly: true });
    const sql =
      "SELECT count(*) AS n FROM sqlite_schema WHERE name IN ('schema_migrations', 'generations', 'trending')";
    const found = database.query<{ n: number }, []>(sql).get();
    database.close();
    return found?.n === 3;
  } catch {
    return false; // not a database at all: the caller says so
  }
}

function forgetSeed(db: string): void {
  rmSync(seedPath(db), { force: true });
}

function seedPath(db: string): string {
  return `${db}.seeded-with`;
}
