import { Database } from "bun:sqlite";
import { appendFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { freePort, newFolder, Program, readIfThere, SmallDisk, until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";
import type { Random } from "@trendvault/kit/random";
import { loadOrCreateKeys } from "../../tools/up/settings.ts";
import { findUnmoved, makeClocks } from "./clocks.ts";
import { type Sample, sumOf } from "./figures.ts";

const root = resolve(import.meta.dir, "../..");
const diskMegabytes = 512;
const workers = 2;

/**
 * Fills a database and starts writer, origin and edge over it. It lies on a disk of its own where this user may mount one:
 * `disk` is null elsewhere, and so is `clocks` where none can be moved. @throws Error when something does not start
 */
export async function startSystem(writerSeconds: number, movesClocks: boolean) {
  const folder = newFolder("endurance");
  const disk = SmallDisk.mount(diskMegabytes);
  const databasePath = join(disk?.path ?? folder, "trendvault.db");
  const { PATH = "", HOME = "" } = process.env;
  const { settings } = loadOrCreateKeys(join(folder, "keys.env"));
  const env = { PATH, HOME, ...settings };
  const made = movesClocks ? await makeClocks(folder) : "none was to be.";
  const clocks = typeof made === "string" ? null : made;
  const writerEnv = { ...env, ...clocks?.writer.env };
  const writer = await startWriter({ databasePath, folder, everySeconds: writerSeconds, env: writerEnv });
  const origin = await startOrigin(databasePath, { ...env, ...clocks?.origin.env });
  const [edgePort, emptyPort] = [await freePort(), await freePort()];
  const local = "http://127.0.0.1";
  const urls = { edge: `${local}:${edgePort}`, origin: origin.url, empty: `${local}:${emptyPort}` };
  const quiet = { PATH, HOME, WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" };
  const empty = emptyWorker(urls.empty, folder, quiet);
  const edge = new Program({
    name: "the edge",
    command: [join(root, "edge-worker/dev"), origin.url, String(edgePort), join(folder, "edge")],
    env: { ...env, ...clocks?.edge.envOfWrangler, CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "true" },
    cwd: root,
    logPath: join(folder, "edge.log"),
    readyUrl: `${urls.edge}/api/regions`,
  });
  const killEdge = () => Promise.all([edge.kill(), empty.kill()]);
  const startEdge = () => Promise.all([edge.start(), empty.start()]);
  await startEdge();
  const unmoved = await findUnmoved(made, {
    writer: () => writer.readClock(),
    origin: () => origin.readClock(),
    edge: () => readAge(urls.edge),
  });
  const signer = new EdgeSigner(parseKeyRing(settings.EDGE_KEYS ?? ""));
  const query = <Row>(sql: string): Row => {
    using database = new Database(databasePath, { readonly: true });
    database.run("PRAGMA busy_timeout = 60000"); // after a kill, the next one to open it recovers its log
    return database.query<Row, []>(sql).get() as Row;
  };
  const newestGeneration = () => query<{ id: number }>("SELECT max(id) AS id FROM generations").id;
  return {
    writer,
    origin,
    /** And the empty Worker, which is of one age with it. */
    edge: { kill: killEdge, start: startEdge },
    disk,
    urls,
    clocks,
    unmoved,
    newestGeneration,

    /** "ok", or what SQLite finds wrong. */
    checkDatabase: () => query<{ integrity_check: string }>("PRAGMA integrity_check").integrity_check,

    /** The fields of a request that this edge sends. */
    edgeFields: async (): Promise<Record<string, string>> => ({
      [edgeSignatureHeader]: await signer.sign(Date.now() / 1000),
    }),

    /**
     * Resolves when the origin is well and serves the newest generation, and the edge answers. It may say that clocks differ
     * while they do. @throws Error after a while
     */
    async untilHealthy({ clocksDiffer = false } = {}): Promise<void> {
      await until(async () => (await origin.healthProblem(newestGeneration(), clocksDiffer)) === null);
      // The edge has no /healthz: that is the origin's, for load balancers.
      await until(async () => (await fetch(`${urls.edge}/api/regions`).catch(() => null))?.status === 200);
    },

    sample(second: number): Sample {
      const [edgePids, emptyPids] = [workerdOf(edge.pid), workerdOf(empty.pid)];
      return {
        second,
        originMegabytes: sumOf(origin.pids().map(residentMegabytes)),
        edgeMegabytes: sumOf(edgePids.map(residentMegabytes)),
        emptyMegabytes: sumOf(emptyPids.map(residentMegabytes)),
        originHandles: sumOf(origin.pids().map(openHandles)),
        edgeHandles: sumOf(edgePids.map(openHandles)),
        databaseMegabytes: sizeOf(databasePath) / megabyte,
        walMegabytes: sizeOf(`${databasePath}-wal`) / megabyte,
      };
    },

    async stop(): Promise<void> {
      await killEdge();
      await origin.stop();
      disk?.unmount();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      clocks?.remove();
    },
  };
}

const kilobyte = 1024;
const megabyte = kilobyte ** 2;

/** A process and all that it has started, and that they have. */
function withDescendants(pid: number): number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(withDescendants)];
}

/** Of wrangler: the Worker's and the one in front of it. */
function workerdOf(pid: number): number[] {
  return withDescendants(pid).filter((one) => readIfThere(`/proc/${one}/cmdline`).includes("workerd\0serve"));
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readIfThere(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) / kilobyte;
}

function openHandles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // it has ended
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The real origin, on ports that stay its own, which can be killed and come back as systemd would start it. */
async function startOrigin(databasePath: string, env: Record<string, string>) {
  const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
  const start = () => OriginProcess.start(databasePath, { ...env, ...ports, WORKERS: String(workers) });
  let origin = await start();
  const url = origin.url.replace(/\/$/, "");
  const children = () => [...origin.workerPids(), ...origin.inspectorPids()];
  /** Resolves when they have ended: until then nobody misses them, and all looks well. */
  const kill = async (pids: readonly number[]) => {
    pids.forEach(killProcess);
    await until(() => !children().some((pid) => pids.includes(pid)));
  };
  return {
    url,
    pids: () => [origin.pid, ...children()],

    /** Unix seconds, by its own clock. */
    async readClock(): Promise<number> {
      const { headers } = await fetch(`${url}/healthz`);
      return Date.parse(headers.get("date") ?? "") / 1000;
    },

    /** Why it is not well, or null when all of its processes run and it serves a generation; a wrong clock may count for nothing. */
    async healthProblem(generation: number, clocksDiffer: boolean): Promise<string | null> {
      if (origin.workerPids().length !== workers) return "a worker is missing";
      const said = await origin.readiness().catch(() => null);
      if (said === null) return "it does not answer";
      const reasons = said.reasons.filter((reason) => !(clocksDiffer && /^The clock of this/.test(reason)));
      if (reasons.length > 0) return reasons.join("; ");
      return said.generation === generation ? null : `it serves ${said.generation}, and not ${generation}`;
    },

    /** Resolves when every worker is another one. */
    async hangUp(): Promise<void> {
      const before = origin.workerPids();
      origin.kill("SIGHUP");
      await until(() => !origin.workerPids().some((pid) => before.includes(pid)));
    },

    killWorker: (random: Random) => kill([random.pick(origin.workerPids())]),
    killWorkers: () => kill(origin.workerPids()),
    killInspector: () => kill(origin.inspectorPids()),

    /** Ends all of its processes at once, and starts it again. */
    async killAndStart(): Promise<void> {
      await origin.remove();
      origin = await start();
    },

    stop: () => origin.remove(),
  };
}

/** What wrangler and workerd are without our Worker: it answers with as many bytes as its path says. */
function emptyWorker(url: string, folder: string, env: Record<string, string>): Program {
  const script = join(folder, "empty.js");
  const response = 'new Response("x".repeat(Number(new URL(url).pathname.slice(1))))';
  writeFileSync(script, `export default { fetch: ({ url }) => ${response} };`);
  const words = `dev ${script} --local --compatibility-date 2026-11-17 --inspector-port 0 --port ${new URL(url).port}`;
  const command = [join(root, "edge-worker/node_modules/.bin/wrangler"), ...words.split(" ")];
  const logPath = join(folder, "empty.log");
  return new Program({ name: "the empty Worker", command, env, cwd: folder, logPath, readyUrl: `${url}/1` });
}

/** Of a negative number, all processes of the group. */
function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

/** How long ago an edge has stored an answer, by its own clock, in seconds; it rises with that. */
async function readAge(url: string): Promise<number> {
  const ask = async () => Number((await fetch(`${url}/openapi.json`)).headers.get("age"));
  await ask(); // now it is stored
  return ask();
}

const writer = join(root, "writer/bin/writer");
const historyHours = 25; // OBSERVATION_RETENTION_HOURS is 24: with every run, as much is deleted as comes
/** The exit code of a process that SIGKILL ended. */
const killedCode = 128 + 9;

type WriterOptions = {
  databasePath: string;
  folder: string;
  everySeconds: number;
  env: Record<string, string>;
};

/** The real writer over a database of its own, which is filled with a day of counts and has a first generation. */
async function startWriter({ databasePath, folder, everySeconds, env }: WriterOptions) {
  const began = Math.floor(Date.now() / 1000);
  const since = began - (historyHours + 1) * 3600;
  const [logPath, history, counts] = ["writer.log", "history.ndjson", "counts.ndjson"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  /** How often `cron` ended with which exit code. */
  const exitCodes: Record<string, number> = {};
  let running: Promise<unknown> = Promise.resolve();
  let nextKillMs: number | undefined;

  const run = async (words: string[], { SOURCES = "", killAfterMs }: RunOptions = {}) => {
    const child = Bun.spawn([writer, ...words], {
      cwd: root,
      env: {
        ...env,
        DB_PATH: databasePath,
        SOURCES,
        OBSERVATION_RETENTION_HOURS: "24",
        GENERATION_RETENTION_HOURS: String(300 / 3600),
      },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => killProcess(-child.pid), killAfterMs);
    const said = await child.stderr.text();
    const exitCode = await child.exited;
    clearTimeout(timer);
    appendFileSync(logPath, `${formatTime(Date.now() / 1000)} ${words[0]}: ${exitCode}\n${said}`);
    return { exitCode, said };
  };

  const succeed = async (words: string[]) => {
    const { exitCode, said } = await run(words);
    if (exitCode !== 0) throw new Error(`writer ${words[0]} ended with ${exitCode}: ${said.slice(-500)}`);
  };

  const cron = async () => {
    const killAfterMs = nextKillMs;
    nextKillMs = undefined;
    await Bun.write(counts, linesAt(Math.floor(Date.now() / 1000), since));
    const { exitCode } = await run(["cron"], { SOURCES: counts, killAfterMs });
    const name = exitCode === killedCode ? "killed" : String(exitCode);
    exitCodes[name] = (exitCodes[name] ?? 0) + 1;
  };

  const file = Bun.file(history).writer();
  for (let second = began - historyHours * 3600; second < began; second += everySeconds)
    file.write(linesAt(second, since));
  await file.end();
  for (const words of [["migrate"], ["ingest", history], ["rank"], ["prune"]]) await succeed(words);
  await Bun.file(history).delete();

  return {
    exitCodes,

    /** A run of every minute: new counts are there, cron runs. Runs follow each other. */
    runOnce(): Promise<unknown> {
      running = running.then(cron);
      return running;
    },

    /** Puts right what its wrong clock has stored. @throws Error when it does not */
    repair(): Promise<unknown> {
      const repaired = running.then(() => succeed(["repair"]));
      running = repaired.catch(() => {}); // the other runs go on
      return repaired;
    },

    /** The next run is killed after so many milliseconds, unless it ends before. */
    killNext(afterMs: number): void {
      nextKillMs = afterMs;
    },

    /** Unix seconds, by its own clock. */
    async readClock(): Promise<number> {
      const { said } = await run(["prune"]);
      return Date.parse(/"time":"([^"]+)"/.exec(said)?.[1] ?? "") / 1000;
    },
  };
}

type RunOptions = { SOURCES?: string; killAfterMs?: number | undefined };

/** What the writer ingests: videos whose view counts grow, each in waves of its own, so that lists move all the time. */
export const observedRegions = ["GB", "DE", "FR"] as const;
const videosPerRegion = 60;
const categories = ["Music", "Gaming"] as const;
const hourSeconds = 3600;

/** The lines of one moment (Unix seconds), as docs/observations.md describes them. */
function linesAt(second: number, since: number): string {
  return observedRegions
    .flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, index) =>
        JSON.stringify(observe({ region, index, second, since })),
      ),
    )
    .join("\n")
    .concat("\n");
}

type Moment = { region: string; index: number; second: number; since: number };

function observe({ region, index, second, since }: Moment): object {
  const id = `${region.toLowerCase()}-${index}`;
  return {
    id,
    region,
    observed_at: formatTime(second),
    published_at: formatTime(since - hourSeconds),
    views: viewsOf(index, second - since),
    title: `Video ${index} of ${region}`,
    channel: `Channel ${index % 40} of ${region}`,
    category: categories[index % categories.length],
    thumb_base: `https://thumbs.example/${id}`,
  };
}

/** The integral of a rate that swings, with a period between half an hour and three. */
function viewsOf(index: number, age: number): number {
  const perHour = 6000 / (1 + index / 8);
  const period = hourSeconds * (0.5 + (index % 6) / 2);
  const swing = 0.9 * (period / (2 * Math.PI)) * (1 - Math.cos((2 * Math.PI * age) / period));
  return Math.round((perHour / hourSeconds) * (age + swing));
}

/** RFC 3339, in whole seconds. */
function formatTime(second: number): string {
  return new Date(second * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
