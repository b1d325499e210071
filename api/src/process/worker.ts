import { closeSync, openSync } from "node:fs";
import { readKeyFiles } from "../key-files.ts";
import type { Logger } from "../log.ts";
import { assembleOrigin, listen, Origin } from "../origin.ts";
import { readSettings, type Settings } from "../settings.ts";
import { explainBindError, findFreePort } from "./free-port.ts";
import {
  type Launch,
  replacedSignal,
  type SupervisorMessage,
  type WorkerMessage,
  type WorkerReport,
} from "./messages.ts";
import type { RequestTracing } from "./request-tracing.ts";
import { TaskGuard } from "./task-guard.ts";

const tickIntervalMs = 20; // a published generation has to be seen within 100
const drainTurns = 10; // answers have Connection: close for so many turns before the port is closed:
const drainTurnMs = 50; // half a second, and longer when this process has no processor to answer with
const openRequestsTimeoutMs = 5000; // and open requests have this long after that

/**
 * One process of the origin. `sharedPort` is where workers listen already; the first one has none, and makes sure that
 * no other program listens on the port of the settings. It stops on SIGTERM and SIGINT, when another one has replaced it
 * and when its supervisor has ended. @throws Error that says what to do when it cannot start
 */
export async function runWorker(
  env: Record<string, string | undefined>,
  sharedPort: number | null,
): Promise<void> {
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const files = readKeyFiles(env);
  const settings = readSettings(env, files);
  for (const words of files.leftOut) log("warning", "word_left_out", words);
  const origin = new Origin(await assembleOrigin(settings, { log }));
  process.on("message", ({ type }: SupervisorMessage) => {
    if (type === "reopen") origin.reopen();
  });
  const port = sharedPort ?? findFreePort(settings.host, settings.port);
  const tracing = traceRequests(origin, settings);
  const where = { hostname: settings.host, port, answer: tracing?.answer ?? origin.answer };
  const server = explainBindError(settings.host, port, () => listen(origin, where));
  const guard = new TaskGuard(log);
  const sendReport = (report: WorkerReport) => send({ type: "report", report });
  const countConnections = () => server.connections;
  const reporter = new WorkerReporter(origin, { guard, tickIntervalMs, countConnections, send: sendReport });
  setInterval(() => {
    guard.run("follow the database", () => origin.tick(Date.now()));
    guard.run("report", () => reporter.tick(performance.now()));
  }, tickIntervalMs);
  stopOnSignal(async (isReplaced) => {
    if (!isReplaced) origin.drain();
    server.drain();
    for (let turn = 0; turn < drainTurns; turn++) await Bun.sleep(drainTurnMs);
    await Promise.race([server.stop(), Bun.sleep(openRequestsTimeoutMs)]);
    await tracing?.stop();
    reporter.report();
  });
  const launch =
    sharedPort === null ? { environment: files.values, settings: forSupervisor(settings) } : null;
  send({ type: "ready", port, launch });
}

function forSupervisor({ host, databasePath, workers, adminHost, adminPort }: Settings): Launch["settings"] {
  return { host, databasePath, workers, adminHost, adminPort };
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

const log: Logger = (...line) => send({ type: "log", line });

function send(message: WorkerMessage): void {
  process.send?.(message);
}

const reportIntervalMs = 1000;

type ReporterOptions = {
  guard: TaskGuard;
  /** The interval of the timer that calls `tick`. */
  tickIntervalMs: number;
  countConnections: () => number;
  send: (report: WorkerReport) => void;
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
    const { guard, countConnections, send } = this.#options;
    guard.run("open a file", () => closeSync(openSync("/dev/null", "r"))); // nor could a connection be accepted
    guard.run("measure memory", () => {
      this.#residentBytes = process.memoryUsage.rss(); // reads a file
    });
    this.#reported = this.#describe();
    send({
      ...this.#origin.status(),
      degradedReason: this.#degradedReason,
      eventLoopLagSeconds: this.#lagMs / 1000,
      residentBytes: this.#residentBytes,
      connections: countConnections(),
    });
    this.#lagMs = 0;
  }

  get #degradedReason(): string | null {
    return this.#origin.degradedReason ?? this.#options.guard.reason;
  }

  // What the supervisor has to know at once.
  #describe(): string {
    const ids = this.#origin.generation?.rankings.map(({ id }) => id);
    return `${ids} ${this.#degradedReason}`;
  }
}
