import type { Environment } from "../key-files.ts";
import { writeLog } from "../log.ts";
import type { adminRoutes } from "./admin.ts";
import { DatabaseWatch, startInspector } from "./database-watch.ts";
import { explainBindError } from "./free-port.ts";
import { cannotStartCode, type Launch } from "./messages.ts";
import { TaskGuard } from "./task-guard.ts";
import { WorkerPool, WorkerProcess } from "./worker-pool.ts";

type Supervised = { pool: WorkerPool; guard: TaskGuard; environment: WorkerEnvironment };

const watchIntervalMs = 500;
const firstRequestMs = 20; // after the first worker listens, the processor is its own for so long

/**
 * Starts the workers and looks after them: SIGTERM and SIGINT let them finish, SIGHUP reads the key files again and
 * replaces them one at a time. The first worker starts alone: until it listens, everything else would only make it wait, and what keeps it
 * from listening would keep the others, too. @throws Error of one sentence when it cannot start
 */
export async function runSupervisor(env: Record<string, string | undefined>): Promise<void> {
  const environment = new WorkerEnvironment(env);
  const onLaunch = (launch: Launch) => environment.adopt(launch);
  const pool = new WorkerPool(
    (port) => new WorkerProcess(writeLog, { port, env: environment.current, onLaunch }),
    writeLog,
  );
  handleSignals(pool, environment);
  const guard = new TaskGuard(writeLog);
  setInterval(
    () => guard.run("watch the workers", () => pool.replaceSilent(performance.now())),
    watchIntervalMs,
  );
  const exit = await pool.open();
  if (exit === cannotStartCode) process.exit(1); // the worker has written the reason
  if (exit !== null) throw new Error(`Cannot start: the first worker exited with ${exit} before it listened`);
  await Bun.sleep(firstRequestMs);
  const { settings } = environment;
  if (settings === null || pool.isStopping) return;
  try {
    await supervise({ pool, guard, environment }, settings);
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

/** Looks at the workers and the database twice a second, and says what it sees on the admin port. */
async function supervise(
  { pool, guard, environment }: Supervised,
  settings: Launch["settings"],
): Promise<void> {
  const path = settings.databasePath;
  const files = require("../database/database-files.ts") as typeof import("../database/database-files.ts"); // with node:fs
  const watch = new DatabaseWatch({
    start: (onInspection) =>
      startInspector({ path, regions: environment.current.REGIONS_TABLE }, onInspection),
    describeFiles: () => files.describeContent(path),
  });
  const findReasons = () => {
    const now = performance.now();
    const failed = [guard.reason, environment.reason].filter((reason) => reason !== null);
    return [...failed, ...pool.describe(now), ...watch.describe(pool.reports, now)];
  };
  const admin = serveAdmin(settings, () => ({
    reports: pool.reports,
    exitedCounters: pool.exitedCounters,
    exits: pool.exits,
    hasRejectedKeys: environment.reason !== null,
    reasons: findReasons(),
  }));
  await pool.grow(settings.workers);
  if (pool.isStopping) return;
  process.on("SIGHUP", () => watch.restart()); // with the new program
  process.on("exit", () => watch.restart()); // when it hangs, it does not end by itself
  let logged = "";
  const look = (now: number) => {
    if (pool.isStopping) return;
    watch.tick(now);
    pool.reopen((report) => watch.isBehind(report, now));
    const reasons = watch.describe(pool.reports, now);
    if (reasons.join("; ") !== logged) logCheck(reasons);
    logged = reasons.join("; ");
    if (findReasons().length === 0) pool.replaceRested(now);
  };
  setInterval(() => guard.run("compare with the database", () => look(performance.now())), watchIntervalMs);
  const host = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
  const url = `http://${host}:${pool.port}/`;
  const facts = { url, workers: settings.workers, admin_url: admin.url.href };
  writeLog("info", "listening", `The origin answers at ${url}.`, facts);
}

function logCheck(reasons: string[]): void {
  if (reasons.length === 0)
    writeLog("info", "check_passed", "The database is whole, and its newest generation is served.");
  else writeLog("warning", "check_failed", "The database or what is served of it is not right.", { reasons });
}

function serveAdmin(
  { adminHost: hostname, adminPort: port }: Launch["settings"],
  read: Parameters<typeof adminRoutes>[0],
) {
  const admin = require("./admin.ts") as typeof import("./admin.ts");
  const routes = admin.adminRoutes(read);
  const serve = () => Bun.serve({ hostname, port, development: false, reusePort: false, routes });
  return explainBindError(hostname, port, serve, "ADMIN_PORT");
}

function handleSignals(pool: WorkerPool, environment: WorkerEnvironment): void {
  const stop = async () => {
    if (pool.isStopping) return; // a second signal
    writeLog("info", "stopping", "Open requests are answered, then all exit.");
    await pool.stop();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", async () => {
    await environment.reload();
    await pool.replace();
  });
}

/**
 * What workers start with: the environment of this process, with the text of its key files in the place of their paths.
 * They are read at the start, by the first worker, and at SIGHUP only, so that a worker that crashes meanwhile comes back
 * with the same keys.
 */
class WorkerEnvironment {
  readonly #env: Environment;
  #current: Environment;
  #settings: Launch["settings"] | null = null;
  #isRead = false;
  #reason: string | null = null;

  constructor(env: Environment) {
    this.#env = env;
    this.#current = env;
  }

  get current(): Environment {
    return this.#current;
  }

  /** Why the previous files are still used, or null. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Null before the first worker listens. */
  get settings(): Launch["settings"] | null {
    return this.#settings;
  }

  /** Takes what the first worker has read; not its files when they were read again meanwhile. */
  adopt({ environment, settings }: Launch): void {
    if (!this.#isRead) this.#current = environment;
    this.#settings = settings;
  }

  /** Reads the key files again, if there are any. When one of them is bad, the keys of all stay as they are. */
  async reload(): Promise<void> {
    // With node:fs: not before the first worker was started.
    const { readKeyFiles } = require("../key-files.ts") as typeof import("../key-files.ts");
    const files = readKeyFiles(this.#env);
    if (files.count === 0) return;
    const { readSettings } = require("../settings.ts") as typeof import("../settings.ts");
    try {
      const { edgeKeys } = readSettings(this.#env, files);
      for (const words of files.leftOut) writeLog("warning", "word_left_out", words);
      this.#current = files.values;
      this.#isRead = true;
      this.#reason = null;
      const facts = { edge_key_ids: [...(edgeKeys ?? [])].map(([kid]) => kid) };
      writeLog("info", "keys_read", "The key files were read again.", facts);
    } catch (error) {
      const { message } = error as Error;
      this.#reason = `A file of keys or regions cannot be used, and the previous ones are: ${message}`;
      writeLog("error", "keys_rejected", "A file cannot be used; the previous ones stay.", {
        reason: message,
      });
    }
  }
}
