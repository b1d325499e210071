import { closeSync, openSync } from "node:fs";
import { type Environment, readKeyFiles } from "../key-files.ts";
import { type Logger, logLine, writeLog } from "../log.ts";
import { assembleOrigin, listen, Origin } from "../origin.ts";
import { readSettings, type Settings } from "../settings.ts";
import { explainBindError, findFreePort } from "./free-port.ts";
import { replacedSignal, type SupervisorMessage, type WorkerReport } from "./messages.ts";
import type { RequestTracing } from "./request-tracing.ts";
import { TaskGuard } from "./task-guard.ts";
import { Workers } from "./workers.ts";

const tickIntervalMs = 20; // a published generation has to be seen within 100
const drainTurns = 10; // answers have Connection: close for so many turns before the port is closed:
const drainTurnMs = 50; // half a second, and longer when this process has no processor to answer with
const openRequestsTimeoutMs = 5000; // and open requests have this long after that
const firstRequestMs = 20; // after the first worker listens, the processor is for requests for so long

type Launch = {
  settings: Settings;
  /** The regions as text. */
  regions: string | undefined;
  /** Why keys of before are used, or null. */
  keysReason: string | null;
};

/**
 * One process of the origin. `words` are those after "worker" that its supervisor has added: its slot, the port of the
 * origin and that of administration (0 for the first worker, which makes sure that no other program listens there), and
 * "again" where files are to be read again. It stops on SIGTERM and SIGINT, when another one has replaced it and when its
 * supervisor has ended. Without a supervisor it is alone: nothing replaces it. @throws Error that says what to do when it
 * cannot start
 */
export async function runWorker(env: Environment, words: readonly string[]): Promise<void> {
  const [slot = 0, sharedPort = 0, sharedAdminPort = 0] = words.map(Number);
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const { settings, regions, keysReason } = readLaunch(env, {
    isFirst: sharedPort === 0,
    again: words[3] === "again",
  });
  if (isAlone && settings.workers > 1)
    throw new Error("WORKERS: more than one need a supervisor: put .tools/bin/supervisor before the command");
  const workers = new Workers({ slot, pid: process.pid }, settings.workers);
  // Before this waits for anything, or a message would be lost. Only who has reported is told to open the database anew.
  process.on("message", (message: SupervisorMessage) =>
    "reopen" in message ? origin.reopen() : workers.receive(message),
  );
  process.on("disconnect", () => process.exit(0));
  const origin = new Origin(await assembleOrigin(settings, { log }));
  const port = sharedPort || findFreePort(settings.host, settings.port);
  const tracing = traceRequests(origin, settings);
  const where = { hostname: settings.host, port, answer: tracing?.answer ?? origin.answer };
  const server = explainBindError(settings.host, port, () => listen(origin, where));
  const guard = new TaskGuard(log);
  const countConnections = () => server.connections;
  const reporter = new WorkerReporter(origin, { guard, tickIntervalMs, countConnections, workers });
  const follow = () => guard.run("follow the database", () => origin.tick(Date.now()));
  let tick = follow;
  setInterval(() => tick(), tickIntervalMs);
  const startLead = () => {
    const { Lead } = require("./lead.ts") as typeof import("./lead.ts");
    const reopen = (pid: number) => (pid === process.pid ? origin.reopen() : tell(`reopen ${pid}`));
    const replaceAll = isAlone ? null : () => tell("replace");
    const shared = { workers, guard, log, reopen, replaceAll, regions, keysReason };
    return new Lead({ settings, adminPort: sharedAdminPort, ...shared });
  };
  if (!isAlone) await workers.told;
  reporter.complete(); // the admin port has something to say
  let lead = slot === 0 && sharedPort !== 0 ? startLead() : null;
  stopOnSignal(async (isReplaced) => {
    if (!isReplaced) origin.drain();
    if (isReplaced) void lead?.stop();
    server.drain();
    for (let turn = 0; turn < drainTurns; turn++) await Bun.sleep(drainTurnMs);
    await Promise.race([server.stop(), Bun.sleep(openRequestsTimeoutMs)]);
    await tracing?.stop();
    reporter.report();
  });
  tell(`listens ${port}`);
  tick = () => {
    follow();
    guard.run("report", () => reporter.tick(performance.now()));
  };
  if (slot !== 0 || lead !== null) return;
  await Bun.sleep(firstRequestMs);
  lead = startLead();
  tell(`grow ${settings.workers} ${lead.adminUrl?.port}`);
  await workers.whole;
  const host = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
  const url = `http://${host}:${port}/`;
  const facts = { url, workers: settings.workers, admin_url: lead.adminUrl?.href };
  log("info", "listening", `The origin answers at ${url}.`, facts);
}

const keptPrefix = "ORIGIN_KEPT_"; // supervisor.c sets it
const longestReason = 2000; // characters

/**
 * The settings. What the first worker reads of files its supervisor keeps in the environment of later ones, so that one
 * that crashes meanwhile comes back with the same keys. With `again` they are read again; when one of them is bad, all
 * stay as they are. @throws Error with a line for every bad variable
 */
function readLaunch(env: Environment, { isFirst, again }: { isFirst: boolean; again: boolean }): Launch {
  if (isFirst) return readFiles(env);
  if (!again) return readKept(env);
  try {
    const launch = readFiles(env);
    const facts = { edge_key_ids: [...(launch.settings.edgeKeys ?? [])].map(([kid]) => kid) };
    if (launch.count > 0) log("info", "keys_read", "The key files were read again.", facts);
    return launch;
  } catch (error) {
    const { message } = error as Error;
    const launch = readKept(env);
    log("error", "keys_rejected", "A file cannot be used; the previous ones stay.", { reason: message });
    const reason = `A file of keys or regions cannot be used, and the previous ones are: ${message}`;
    const keysReason = reason.slice(0, longestReason).toWellFormed(); // as it is kept: all workers say the same
    keep({ REASON: keysReason });
    return { ...launch, keysReason };
  }
}

function readFiles(env: Environment): Launch & { count: number } {
  const files = readKeyFiles(env);
  const settings = readSettings(env, files);
  for (const words of files.leftOut) log("warning", "word_left_out", words);
  const read = Object.entries(files.values).filter(([name, value]) => value !== env[name]);
  if (files.count > 0) keep({ ...Object.fromEntries(read), REASON: "" });
  return { settings, regions: files.values.REGIONS_TABLE, keysReason: null, count: files.count };
}

function readKept(env: Environment): Launch {
  const kept: Environment = {};
  for (const [name, value] of Object.entries(env))
    if (name.startsWith(keptPrefix)) kept[name.slice(keptPrefix.length)] = value;
  const { REGIONS_FILE: _read, ...others } = env;
  const values = { ...(kept.REASON === undefined ? env : others), ...kept };
  return { settings: readSettings(values), regions: values.REGIONS_TABLE, keysReason: kept.REASON || null };
}

/** All in one line: a worker that ends meanwhile has kept all or nothing. */
function keep(values: Environment): void {
  const words = Object.entries(values).map(
    ([name, value = ""]) => `${name}=${encodeURIComponent(value.toWellFormed())}`,
  );
  tell(`keep ${words.join(" ")}`);
}

/** Null where no spans are exported: then nothing of it is loaded, and requests go straight to the origin. */
function traceRequests({ answer }: Origin, { tracing, edgeKeys }: Settings): RequestTracing | null {
  if (tracing === null) return null;
  const loaded = require("./request-tracing.ts") as typeof import("./request-tracing.ts");
  return new loaded.RequestTracing(answer, { ...tracing, isGuarded: edgeKeys !== null, log });
}

function stopOnSignal(finish: (isReplaced: boolean) => Promise<void>): void {
  let isStopping = false;
  const stop = async (isReplaced: boolean) => {
    if (isStopping) return;
    isStopping = true;
    await finish(isReplaced);
    process.exit(0);
  };
  process.removeAllListeners("disconnect");
  for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, () => stop(false));
  process.on(replacedSignal, () => stop(true));
}

/** Whether it was started by itself: then what it was started by may be another program that takes messages. */
const isAlone = process.argv[2] !== "worker";

// A worker that waits for its log would hang: its supervisor writes it, who waits for nothing.
const log: Logger = (...line) => {
  if (isAlone) writeLog(...line);
  else tell(logLine(...line));
};

/** Tells the supervisor: see supervisor.c. */
function tell(what: string | object): void {
  if (!isAlone) process.send?.(what);
}

const reportIntervalMs = 1000;

type ReporterOptions = {
  guard: TaskGuard;
  /** The interval of the timer that calls `tick`. */
  tickIntervalMs: number;
  countConnections: () => number;
  workers: Workers;
};

/** Sends a worker's report to the supervisor, which takes it for the sign that the worker does not hang. */
class WorkerReporter {
  readonly #origin: Origin;
  readonly #options: ReporterOptions;
  #lastTick: number | null = null;
  #lagMs = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #residentBytes = 0;
  #reported: string | null = null;

  constructor(origin: Origin, options: ReporterOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /**
   * Sends a report when the last one is a second old, or no longer true. Call it from a steady timer (`now` in
   * milliseconds): how late it comes is the lag of the event loop.
   */
  tick(now: number): void {
    if (this.#lastTick !== null) {
      this.#lagMs = Math.max(this.#lagMs, now - this.#lastTick - this.#options.tickIntervalMs);
    }
    this.#lastTick = now;
    const isDue = now - this.#reportedAt >= reportIntervalMs;
    if (!isDue && this.#describe() === this.#reported) return;
    this.#reportedAt = now;
    this.report();
  }

  /** Sends a report now. */
  report(): void {
    tell({ report: this.complete() });
    this.#lagMs = 0;
  }

  /** A report as of now, which the admin port of this worker has then, too. */
  complete(): WorkerReport {
    const { guard, countConnections, workers } = this.#options;
    guard.run("open a file", () => closeSync(openSync("/dev/null", "r"))); // nor could a connection be accepted
    guard.run("measure memory", () => {
      this.#residentBytes = process.memoryUsage.rss(); // reads a file
    });
    this.#reported = this.#describe();
    return workers.complete({
      ...this.#origin.status(),
      degradedReason: this.#degradedReason,
      eventLoopLagSeconds: this.#lagMs / 1000,
      residentBytes: this.#residentBytes,
      connections: countConnections(),
    });
  }

  get #degradedReason(): string | null {
    return this.#origin.degradedReason ?? this.#options.guard.reason;
  }

  // What the worker on the admin port has to know at once.
  #describe(): string {
    const ids = this.#origin.generation?.rankings.map(({ id }) => id);
    return `${ids} ${this.#degradedReason}`;
  }
}
