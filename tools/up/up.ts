import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { defaultRegion, requireSameRegions } from "@trendvault/contract/regions";
import {
  countVideos,
  isEmpty,
  isSeededWithDemo,
  lockDatabase,
  recordSeed,
  removeDatabase,
  runEvery,
  runWriter,
  SOURCE_FAILED,
  WriterFailed,
  type WriterOptions,
} from "./database.ts";
import { demoSiteAt, serveDemoSite } from "./demo-site.ts";
import type { Options } from "./options.ts";
import { edgeService, HOST, originService, runStack } from "./services.ts";
import { loadOrCreateKeys, publishingKeyNames, replaceKeys, useRegionsFile, withStore } from "./settings.ts";
import { runVisitors } from "./visitors.ts";

const MINUTE_MS = 60_000;

/**
 * Brings the stack up and keeps it up until the signal aborts (resolves with null)
 * or a service ends (resolves with a sentence that says which and why).
 *
 * @throws Error when an option is wrong, before anything has been started or deleted, or when filling fails
 */
export async function up(
  options: Options,
  { root, signal }: { root: string; signal: AbortSignal },
): Promise<string | null> {
  if (options.origin) {
    await assertPortFree(HOST, { port: options.port, option: "--port" });
    await assertPortFree(HOST, { port: options.adminPort, option: "--admin-port" });
  }
  if (options.edge) await assertPortFree(HOST, { port: options.edgePort, option: "--edge-port" });
  if (options.source !== null) assertReadable(options.source);
  else await assertPortFree(HOST, { port: options.demoPort, option: "--demo-port" });
  if (options.regions !== null) useRegionsFile(options.regions);
  mkdirSync(dirname(options.db), { recursive: true });
  const release = lockDatabase(options.db);
  try {
    return await fillAndRun(options, { root, signal });
  } catch (error) {
    if (signal.aborted) return null; // that is why it failed
    throw error;
  } finally {
    release();
  }
}

async function fillAndRun(
  options: Options,
  { root, signal }: { root: string; signal: AbortSignal },
): Promise<string | null> {
  if (options.fresh) removeDatabase(options.db);
  const { settings, created } = loadOrCreateKeys(options.envFile, options.origin ? [] : publishingKeyNames);
  if (created.length > 0) console.log(`Created local keys in ${options.envFile}: ${created.join(", ")}`);
  const { env: replaced, unused } = replaceKeys(process.env, settings);
  if (unused.length > 0)
    console.log(`Not used: ${unused.join(", ")}. bin/up takes its keys from ${options.envFile}.`);
  const { host } = demoSiteAt(HOST, options.demoPort);
  const { REGIONS_FILE: _, ...others } = replaced;
  const regions = options.regions === null ? {} : { REGIONS_FILE: options.regions };
  const env = { ...others, ...regions, DB_PATH: options.db };
  const writer = { root, db: options.db, env, signal };
  await fill(options, { ...writer, env: { ...env, THUMBNAIL_HOSTS: host } }); // the pictures of the demo
  if (!isSeededWithDemo(options.db)) return run(options, writer);
  const site = serveDemoSite(HOST, options.demoPort);
  try {
    return await run(options, { ...writer, env: { ...env, THUMBNAIL_HOSTS: site.host } });
  } finally {
    await site.stop();
  }
}

/** Leaves a migrated, ranked database; fills it first when it is empty. */
async function fill({ source, db }: Options, writer: WriterOptions): Promise<void> {
  await runWriter(["migrate"], writer);
  if (await isEmpty(writer)) {
    await fillEmpty(source, writer);
  } else if (source !== null) {
    console.log(`${db} holds observations already: ${source} was not read. --fresh starts over.`);
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
  recordSeed(writer.db, source);
  try {
    await runWriter(["ingest", ...(source === null ? ["demo"] : ["--shift-to-now", source])], writer);
  } catch (error) {
    const endedEarly = error instanceof WriterFailed && error.exitCode === SOURCE_FAILED;
    if (endedEarly && !(await isEmpty(writer))) {
      console.error("The source ended early: what it delivered until then is served.");
      return;
    }
    removeDatabase(writer.db);
    throw error;
  }
}

/** Runs the services and the writer over a filled database until the signal aborts. */
async function run(options: Options, writer: WriterOptions): Promise<string | null> {
  const { root, signal } = writer;
  const env = options.origin ? writer.env : await withStore(writer.env, { root, edgePort: options.edgePort });
  const cron = { ...writer, env: { ...env, SOURCES: sourcesOf(options).join(",") } };
  const counted = await countVideos(writer);
  const busiest = counted[0]?.region ?? defaultRegion;
  const services = [
    ...(options.origin ? [originService(options, { root, env })] : []),
    ...(options.edge ? [edgeService(options, { root, env })] : []),
  ];
  const whenReady = async (stopped: AbortSignal) => {
    if (!options.origin) {
      console.log("Rendering every page, list and answer for the store: that takes a minute.");
      await runWriter(["publish"], cron);
    }
    if (options.edge && !(await hasSameRegions(options, stopped))) return;
    console.log(welcome(options, busiest));
    const regions = counted.filter(({ videos }) => videos > 0).map(({ region }) => region);
    const visiting = visitWhileRunning(options, { regions, signal: stopped });
    await Promise.all([visiting, runEvery(MINUTE_MS, cron, stopped)]);
  };
  return runStack(services, { signal, whenReady });
}

/** False when the stack was stopped meanwhile. @throws Error when the edge has other regions than the origin */
async function hasSameRegions({ edgePort }: Options, stopped: AbortSignal): Promise<boolean> {
  try {
    await requireSameRegions(`http://${HOST}:${edgePort}`, { signal: stopped });
    return true;
  } catch (error) {
    if (stopped.aborted) return false;
    throw error;
  }
}

/** What the writer's runs of every minute ingest: what the demo counts next, and what visitors looked at. */
function sourcesOf({ db, edge, edgePort }: Options): string[] {
  return [...(isSeededWithDemo(db) ? ["demo"] : []), ...(edge ? [`edge:http://${HOST}:${edgePort}`] : [])];
}

async function visitWhileRunning(
  { visitors, edgePort }: Options,
  { regions, signal }: { regions: string[]; signal: AbortSignal },
): Promise<void> {
  if (visitors === 0 || regions.length === 0) return;
  await runVisitors({ edge: `http://${HOST}:${edgePort}`, regions, perSecond: visitors }, signal);
}

/** What bin/up prints when everything answers. `region` is one with many videos. */
function welcome(options: Options, region: string): string {
  const { port, origin: hasOrigin, edge, edgePort, adminPort, db } = options;
  const [originUrl, edgeUrl] = [`http://${HOST}:${port}`, `http://${HOST}:${edgePort}`];
  const site = edge ? edgeUrl : originUrl;
  const origin = edge
    ? `${originUrl} answers the edge only; bin/up --no-edge opens it`
    : `${originUrl}/api/trending, open to every client of this machine (--no-edge)`;
  const behind = hasOrigin
    ? `origin    ${origin}\n  admin     http://${HOST}:${adminPort}/metrics and /readyz`
    : `origin    none: the edge answers from the store that the writer publishes into (--no-origin)`;
  return `
TrendVault is up.

  page      ${site}/?region=${region}
  ${edge ? `edge      ${edgeUrl}/api/trending\n  ` : ""}${behind}
  database  ${db}; the writer runs every minute${describeVisitors(options)}

  curl '${site}/api/trending?region=${region}&limit=3'

Ctrl-C stops everything.
`;
}

function describeVisitors({ visitors }: Options): string {
  return visitors === 0
    ? ""
    : `
  visitors  ${visitors} simulated ones a second tell the edge what they looked at; the lists learn from it in minutes`;
}

/** Throws when another process listens on the port; `option` is the option that chooses another. */
async function assertPortFree(
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
function assertReadable(source: string): void {
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
