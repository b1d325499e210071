import type { Settings } from "../settings.ts";
import { adminPages } from "./admin.ts";
import { explainBindError } from "./claim-port.ts";
import type { LogLevel } from "./log.ts";
import { cannotStart } from "./messages.ts";
import { WorkerPool } from "./worker-pool.ts";
import { WorkerProcess } from "./worker-process.ts";

const firstRequestTakes = 20; // milliseconds after the first worker listens that are left to it

/**
 * Starts the workers and looks after them: SIGTERM and SIGINT let them finish, SIGHUP replaces them one at a
 * time. The first worker starts alone: until it listens, everything else would only make it wait. What keeps it
 * from that, and it says, would keep all of them. Throws an Error of one sentence when it cannot start.
 */
export async function runSupervisor(env: Record<string, string | undefined>): Promise<void> {
  const pool = new WorkerPool((port) => new WorkerProcess(log, port), log);
  obeySignals(pool);
  const how = await pool.open();
  if (how === cannotStart) process.exit(1); // the worker has said why
  if (how !== null) throw new Error(`Cannot start: the first worker ended with ${how} before it listened`);
  await Bun.sleep(firstRequestTakes);
  try {
    const { readSettings } = await import("../settings.ts");
    if (pool.isStopping) return;
    await supervise(pool, readSettings(env));
  } catch (error) {
    await pool.stop();
    throw error;
  }
}

async function supervise(pool: WorkerPool, settings: Settings): Promise<void> {
  const admin = serveAdmin(pool, settings);
  await pool.grow(settings.workers);
  if (pool.isStopping) return;
  const url = `http://${settings.host}:${pool.port}/`;
  log("info", "listening", { url, workers: settings.workers, admin: admin.url.href });
}

function serveAdmin(pool: WorkerPool, { adminHost: hostname, adminPort: port }: Settings) {
  const fetch = adminPages(() => pool.reports);
  const serve = () => Bun.serve({ hostname, port, development: false, reusePort: false, fetch });
  return explainBindError(hostname, port, serve, "ADMIN_PORT");
}

function obeySignals(pool: WorkerPool): void {
  const leave = async () => {
    if (pool.isStopping) return; // told twice
    await Promise.all([log("info", "leaving"), pool.stop()]);
    process.exit(0);
  };
  process.on("SIGTERM", leave);
  process.on("SIGINT", leave);
  process.on("SIGHUP", () => void pool.replace());
}

// What writes the log is loaded with its first line, after the workers were started.
async function log(level: LogLevel, event: string, fields: Record<string, unknown> = {}): Promise<void> {
  const { writeLog } = await import("./log-writer.ts");
  writeLog(level, event, fields);
}
