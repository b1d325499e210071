import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { defaultRegion, requireSameRegions } from "@trendvault/contract/regions";
import { isSeededWithDemo, lockDatabase, recordSeed } from "./database-files.ts";
import { demoSiteAt, serveDemoSite } from "./demo-site/serve.ts";
import { loadOrCreateKeys, publishingKeyNames, replaceKeys } from "./key-file.ts";
import type { Options } from "./options.ts";
import { assertPortFree, assertReadable, removeDatabase } from "./preflight.ts";
import { useRegionsFile } from "./regions-file.ts";
import { edgeService, HOST, originService } from "./services.ts";
import { runStack } from "./stack.ts";
import { withStore } from "./store-settings.ts";
import { runVisitors } from "./visitors.ts";
import { welcome } from "./welcome.ts";
import {
  countVideos,
  isEmpty,
  runEvery,
  runWriter,
  SOURCE_FAILED,
  WriterFailed,
  type WriterOptions,
} from "./writer.ts";

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
  const { thumbBase } = demoSiteAt(HOST, options.demoPort);
  const { REGIONS_FILE: _, ...others } = replaced;
  const regions = options.regions === null ? {} : { REGIONS_FILE: options.regions };
  const env = { ...others, ...regions, DB_PATH: options.db, DEMO_THUMB_BASE: thumbBase };
  const writer = { root, db: options.db, env, signal };
  await fill(options, writer);
  if (!isSeededWithDemo(options.db)) return run(options, writer);
  const site = serveDemoSite(HOST, options.demoPort);
  try {
    return await run(options, { ...writer, env: { ...env, THUMB_HOSTS: site.host } });
  } finally {
    await site.stop();
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
