import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { readThumbHosts } from "@trendvault/contract/page";
import { defaultRegion, readRegionTable, requireSameRegions, useRegions } from "@trendvault/contract/regions";
import { serveDemoSite } from "./demo-site.ts";
import { type Options, parseOptions } from "./options.ts";
import { HOST, runStack, servicesOf } from "./services.ts";
import { loadOrCreateKeys, replaceKeys, withStore } from "./settings.ts";
import { runVisitors } from "./visitors.ts";

const MINUTE_MS = 60_000;
const root = resolve(import.meta.dir, "../..");
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => stop.abort());

void main(Bun.argv.slice(2)); // no await: what follows is to be there when it goes on

async function main(argv: string[]): Promise<void> {
  try {
    const options = parseOptions(argv, { cwd: process.cwd(), root });
    const reason = await up(options, stop.signal).catch(describe);
    if (reason !== null) fail(reason, 1);
  } catch (error) {
    fail(`${describe(error)}\nSee bin/up --help.`, 2);
  }
}

function fail(reason: string, exitCode: number): void {
  console.error(`bin/up: ${reason}`);
  process.exitCode = exitCode;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Brings the stack up and keeps it up until the signal aborts (resolves with null)
 * or a service ends (resolves with a sentence that says which and why).
 *
 * @throws Error when an option is wrong, before anything has been started or deleted, or when filling fails
 */
async function up(options: Options, signal: AbortSignal): Promise<string | null> {
  if (options.origin) {
    assertPortFree(options.port, "--port");
    assertPortFree(options.adminPort, "--admin-port");
  }
  if (options.edge) assertPortFree(options.edgePort, "--edge-port");
  if (options.source !== null) assertReadable(options.source);
  else assertPortFree(options.demoPort, "--demo-port");
  if (options.regions !== null) useRegionsFile(options.regions);
  mkdirSync(dirname(options.db), { recursive: true });
  const release = lockDatabase(options.db);
  try {
    return await fillAndRun(options, signal);
  } catch (error) {
    if (signal.aborted) return null; // that is why it failed
    throw error;
  } finally {
    release();
  }
}

async function fillAndRun(options: Options, signal: AbortSignal): Promise<string | null> {
  if (options.fresh) removeDatabase(options.db);
  const { settings, created } = loadOrCreateKeys(options.envFile, { forPublishing: !options.origin });
  if (created.length > 0) console.log(`Created local keys in ${options.envFile}: ${created.join(", ")}`);
  const { env: replaced, unused } = replaceKeys(process.env, settings);
  if (unused.length > 0)
    console.log(`Not used: ${unused.join(", ")}. bin/up takes its keys from ${options.envFile}.`);
  const { REGIONS_FILE: _, ...others } = replaced;
  const regions = options.regions === null ? {} : { REGIONS_FILE: options.regions };
  const env = { ...others, ...regions, DB_PATH: options.db };
  const writer = { db: options.db, env, signal };
  const demo = `${HOST}:${options.demoPort}`;
  const asDemo = { VIDEO_URL: `http://${demo}/watch/{id}`, ...env, THUMBNAIL_HOSTS: demo };
  await fill(options, { ...writer, env: asDemo });
  if (!isSeededWithDemo(options.db))
    return run(options, { ...writer, env: { THUMBNAIL_HOSTS: pictureHosts(options.db), ...env } });
  const site = serveDemoSite(HOST, options.demoPort);
  try {
    return await run(options, { ...writer, env: asDemo });
  } finally {
    await site.stop(true);
  }
}

/** Leaves a migrated, ranked database; fills it first when it is empty. */
async function fill({ source, db }: Options, writer: WriterOptions): Promise<void> {
  await runWriter(["migrate", "--quiet"], writer);
  if (!(await hasVideos(writer))) {
    await fillEmpty(source, writer);
  } else if (source !== null) {
    const held = isSeededWithDemo(db) ? "the demo" : "observations already";
    console.log(`${source} is not read: ${db} holds ${held}, which the page goes on showing.`);
    console.log("--fresh starts over; --db PATH begins another database.");
  } else if (!isSeededWithDemo(db)) {
    console.log(`${db} holds view counts that are not the demo's: nothing is added. --fresh starts over.`);
  }
  await runWriter(["rank"], writer);
}

/**
 * Ingests into an empty database. When that fails, the database is deleted again; what a source delivered before it
 * ended early is kept, with a message.
 */
async function fillEmpty(source: string | null, writer: WriterOptions): Promise<void> {
  // A later bin/up runs the demo in its cron only on a database of the demo: made-up videos never mix with real ones.
  writeFileSync(seedPath(writer.db), source ?? "demo");
  try {
    await runWriter(["ingest", ...(source === null ? ["demo"] : ["--shift-to-now", source])], writer);
  } catch (error) {
    const endedEarly = error instanceof WriterFailed && error.exitCode === SOURCE_FAILED;
    if (endedEarly && (await hasVideos(writer))) {
      console.error("The source ended early: what it delivered until then is served.");
      return;
    }
    removeDatabase(writer.db);
    throw error;
  }
}

/** Runs the services and the writer over a filled database until the signal aborts. */
async function run(options: Options, writer: WriterOptions): Promise<string | null> {
  const { signal } = writer;
  const env = options.origin ? writer.env : await withStore(writer.env, { root, edgePort: options.edgePort });
  const edge = `http://${HOST}:${options.edgePort}`;
  // What the demo counts next, and what visitors looked at.
  const sources = [
    ...(isSeededWithDemo(options.db) ? ["demo"] : []),
    ...(options.edge ? [`edge:${edge}`] : []),
  ];
  const cron = { ...writer, env: { ...env, SOURCES: sources.join(",") } };
  const counted = await countVideos(writer);
  const busiest = counted[0]?.region ?? defaultRegion;
  const services = servicesOf(options, { root, env });
  const whenReady = async (stopped: AbortSignal) => {
    if (!options.origin) {
      console.log("Rendering every page, list and answer for the store: that takes a minute.");
      await runWriter(["publish"], cron);
    }
    if (options.edge)
      await requireSameRegions(edge, { signal: stopped }).catch((error) => {
        if (!stopped.aborted) throw error;
      });
    if (stopped.aborted) return;
    console.log(welcome(options, busiest));
    const regions = counted.filter(({ videos }) => videos > 0).map(({ region }) => region);
    const isVisited = options.visitors > 0 && regions.length > 0;
    await Promise.all([
      isVisited && runVisitors({ edge, regions, perSecond: options.visitors }, stopped),
      runEvery(MINUTE_MS, cron, stopped),
    ]);
  };
  return runStack(services, { signal, whenReady });
}

/** As many of the hosts that a database's pictures are from as THUMBNAIL_HOSTS may name. */
function pictureHosts(path: string): string {
  const database = new Database(path, { readonly: true });
  const sql = "SELECT thumb_base FROM videos UNION SELECT value FROM videos, json_each(thumbs)";
  const addresses = database.query(sql).values().flat();
  database.close();
  const hosts = new Set(addresses.map((one) => URL.parse(String(one))?.host ?? ""));
  return [...hosts].reduce((list, host) => readThumbHosts(`${list},${host}`)?.join() ?? list, "");
}

/** What bin/up prints when everything answers. `region` is one with many videos. */
function welcome(options: Options, region: string): string {
  const { port, origin: hasOrigin, edge, edgePort, adminPort, db, visitors } = options;
  const [originUrl, edgeUrl] = [`http://${HOST}:${port}`, `http://${HOST}:${edgePort}`];
  const site = edge ? edgeUrl : originUrl;
  const origin = edge
    ? `${originUrl} answers the edge only; bin/up --no-edge opens it`
    : `${originUrl}/api/trending, open to every client of this machine (--no-edge)`;
  const behind = hasOrigin
    ? `origin    ${origin}\n  admin     http://${HOST}:${adminPort}/metrics and /readyz`
    : `origin    none: the edge answers from the store that the writer publishes into (--no-origin)`;
  const told = visitors > 0 ? `\n  visitors  ${visitors} simulated ones a second, from whom lists learn` : "";
  return `
TrendVault is up.

  page      ${site}/?region=${region}
  ${edge ? `edge      ${edgeUrl}/api/trending\n  ` : ""}${behind}
  database  ${db}; the writer runs every minute${told}

  curl '${site}/api/trending?region=${region}&limit=3'

Ctrl-C stops everything.
`;
}

/** Throws when another process listens on the port; `option` is the option that chooses another. */
function assertPortFree(port: number, option: string): void {
  try {
    Bun.listen({ hostname: HOST, port, socket: { data() {} } }).stop(true);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new Error(`Port ${port} is in use: stop what listens there, or choose another with ${option}`);
    throw new Error(`Cannot listen on ${HOST}:${port}: ${message}`);
  }
}

/** Takes over the regions of a file. @throws Error that says what is wrong with it, a line for each mistake */
function useRegionsFile(path: string): void {
  try {
    useRegions(readRegionTable(readFileSync(path, "utf8")));
  } catch (error) {
    throw new Error(`Cannot use --regions ${path}:\n${describe(error)}`);
  }
}

/** Throws when the source cannot be read. */
function assertReadable(source: string): void {
  try {
    accessSync(source, constants.R_OK);
  } catch (error) {
    throw new Error(
      (error as NodeJS.ErrnoException).code === "ENOENT"
        ? `There is no source at ${source}: expected an NDJSON file (plain or .gz) or a folder of them`
        : `Cannot read the source ${source}: check its permissions`,
    );
  }
}

/** Aborting the signal ends the command that runs. */
type WriterOptions = { db: string; env: Record<string, string>; signal: AbortSignal };

/** The exit code when a source ended early or is missing; what it gave is stored (docs/operations.md). */
const SOURCE_FAILED = 4;

class WriterFailed extends Error {
  constructor(
    command: string,
    readonly exitCode: number,
  ) {
    super(`writer ${command} failed (exit code ${exitCode}); see its message above`);
  }
}

/**
 * Runs one writer command and resolves with its result.
 *
 * @throws WriterFailed
 */
async function runWriter(args: readonly string[], { db, env, signal }: WriterOptions): Promise<string> {
  const command = [join(root, "writer/bin/writer"), ...args, "--db", db];
  const stderr = process.stderr.isTTY ? "inherit" : "pipe";
  const streams = { stdin: "ignore", stdout: "pipe", stderr } as const;
  const child = Bun.spawn(command, { cwd: root, env, detached: true, ...streams, signal });
  const [result] = await Promise.all([child.stdout.text(), printMessages(child.stderr)]);
  const exitCode = await child.exited;
  if (exitCode !== 0) throw new WriterFailed(args[0] ?? "", exitCode);
  return result;
}

const step = /^{"time":"[^"]*","level":"(info|warning)","event":"\w+","message":("(?:[^"\\]|\\.)*")/;

/** Prints for people what the writer logs as JSON where there is no terminal: a line a step. Failures stay whole. */
async function printMessages(log: Bun.ReadableSubprocess["stderr"] | undefined): Promise<void> {
  if (log === undefined) return;
  for await (const line of createInterface(Readable.fromWeb(log))) {
    const [, level, message] = step.exec(line) ?? [];
    const prefix = level === "warning" ? "warning: " : "";
    console.error(message === undefined ? line : prefix + JSON.parse(message).replace(/\p{Cc}/gu, "?"));
  }
}

/**
 * How many videos the database has of each region, most first.
 *
 * @throws WriterFailed
 */
async function countVideos(options: WriterOptions): Promise<{ region: string; videos: number }[]> {
  const status = JSON.parse(await runWriter(["status", "--json"], options)) as {
    regions: { region: string; videos: number }[];
  };
  return status.regions.sort((left, right) => right.videos - left.videos);
}

/** @throws WriterFailed */
async function hasVideos(options: WriterOptions): Promise<boolean> {
  return (await countVideos(options)).some(({ videos }) => videos > 0);
}

/** Runs `writer cron` every `intervalMs` until the signal aborts. A failed run is reported; the next one tries again. */
async function runEvery(intervalMs: number, options: WriterOptions, signal: AbortSignal): Promise<void> {
  while (await setTimeout(intervalMs, true, { signal }).catch(() => false)) {
    try {
      await runWriter(["cron"], { ...options, signal });
    } catch (error) {
      if (!(error instanceof WriterFailed)) throw error;
      if (!signal.aborted) console.error(`${error.message}. It runs again in a minute.`);
    }
  }
}

/**
 * Keeps a second bin/up off the same database: both would run the writer, and rankings would come and go twice
 * as fast. Returns a function that releases the database.
 *
 * @throws Error when another bin/up is running on it
 */
function lockDatabase(db: string): () => void {
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

function isSeededWithDemo(db: string): boolean {
  return existsSync(seedPath(db)) && readFileSync(seedPath(db), "utf8") === "demo";
}

/** Deletes a TrendVault database with its -wal and -shm. Throws, deleting nothing, when the file is something else. */
function removeDatabase(path: string): void {
  if (existsSync(path) && !isTrendVaultDatabase(path)) {
    throw new Error(`Will not delete ${path}: it is not a TrendVault database`);
  }
  for (const suffix of ["-wal", "-shm", ".edge", ".edge-without-origin", ""])
    rmSync(path + suffix, { recursive: true, force: true });
  rmSync(seedPath(path), { force: true });
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

function seedPath(db: string): string {
  return `${db}.seeded-with`;
}
