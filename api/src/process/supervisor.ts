import type { Logger } from "../logging/logger.ts";
import { TaskGuard } from "../logging/task-guard.ts";
import type { Settings } from "../settings.ts";
import { adminHandler } from "./admin.ts";
import { DatabaseWatch } from "./database-watch.ts";
import { explainBindError } from "./free-port.ts";
import { InspectorProcess } from "./inspector-process.ts";
import { cannotStartCode } from "./messages.ts";
import { Oversight } from "./oversight.ts";
import { WorkerEnvironment } from "./worker-environment.ts";
import { WorkerPool } from "./worker-pool.ts";
import { WorkerProcess } from "./worker-process.ts";

type Supervised = { pool: WorkerPool; guard: TaskGuard; environment: WorkerEnvironment };

const watchIntervalMs = 500;
const firstRequestMs = 20; // after the first worker listens, the processor is its own for so long

/**
 * Starts the workers and looks after them: SIGTERM and SIGINT let them finish, SIGHUP reads the key files again and
 * replaces them one at a time. The first worker starts alone: until it listens, everything else would only make it wait, and what keeps it
 * from listening would keep the others, too. @throws Error of one sentence when it cannot start
 */
export async function runSupervisor(env: Record<string, string | undefined>): Promise<void> {
  const environment = new WorkerEnvironment(env, log);
  const pool = new WorkerPool((port) => new WorkerProcess(log, { port, env: environment.current }), log);
  handleSignals(pool, environment);
  const guard = new TaskGuard(log);
  setInterval(
    () => guard.run("watch the workers", () => pool.replaceSilent(performance.now())),
    watchIntervalMs,
  );
  const exit = await pool.open();
  if (exit === cannotStartCode) process.exit(1); // the worker has written the reason
  if (exit !== null) throw new Error(`Cannot start: the first worker exited with ${exit} before it listened`);
  await Bun.sleep(firstRequestMs);
  try {
    const settings = await environment.read();
    if (pool.isStopping) return;
    await supervise({ pool, guard, environment }, settings);
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

async function supervise({ pool, guard, environment }: Supervised, settings: Settings): Promise<void> {
  const watch = new DatabaseWatch((onInspection) => {
    const parts = { path: settings.databasePath, regions: environment.current.REGIONS_TABLE };
    return new InspectorProcess(parts, onInspection);
  });
  const oversight = new Oversight({ pool, watch, guard, environment }, log);
  const admin = serveAdmin(oversight, settings);
  await pool.grow(settings.workers);
  if (pool.isStopping) return;
  process.on("SIGHUP", () => watch.stop()); // and the next look starts another one
  process.on("exit", () => watch.stop()); // when it hangs, it does not end by itself
  setInterval(
    () => guard.run("compare with the database", () => oversight.tick(performance.now())),
    watchIntervalMs,
  );
  const url = `http://${settings.host}:${pool.port}/`;
  const facts = { url, workers: settings.workers, admin_url: admin.url.href };
  log("info", "listening", `The origin answers at ${url}.`, facts);
}

function serveAdmin(oversight: Oversight, { adminHost: hostname, adminPort: port }: Settings) {
  const fetch = adminHandler(oversight);
  const serve = () => Bun.serve({ hostname, port, development: false, reusePort: false, fetch });
  return explainBindError(hostname, port, serve, "ADMIN_PORT");
}

function handleSignals(pool: WorkerPool, environment: WorkerEnvironment): void {
  const stop = async () => {
    if (pool.isStopping) return; // a second signal
    await Promise.all([log("info", "stopping", "Open requests are answered, then all exit."), pool.stop()]);
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", async () => {
    await environment.reload();
    await pool.replace();
  });
}

// pino is loaded with the first line, after the workers were started. A log that cannot be written ends nothing.
async function log(...line: Parameters<Logger>): Promise<void> {
  try {
    const { writeLog } = await import("../logging/log-writer.ts");
    writeLog(...line);
  } catch {
    // There is no other place to say it.
  }
}
