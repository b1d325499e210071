import type { Settings } from "../settings.ts";
import { adminPages } from "./admin.ts";
import { describeBindError } from "./claim-port.ts";
import type { LogLevel } from "./log.ts";
import { cannotStart } from "./messages.ts";
import { WorkerPool } from "./worker-pool.ts";
import { WorkerProcess } from "./worker-process.ts";

const quietFor = 20; // milliseconds after the first worker listens: its first request needs the processor

/**
 * Starts the workers and looks after them: SIGTERM and SIGINT let them finish, SIGHUP replaces them one at a
 * time. The first worker starts alone: until it listens, everything else would only make it wait. What keeps it
 * from that, and it says, would keep all of them. Throws an Error of one sentence when it cannot start.
 */
export async function runSupervisor(env: Record<string, string | undefined>): Promise<void> {
  const first = new WorkerProcess(log);
  const port = await first.listening;
  if (port === null) failLike(await first.exited);
  await Bun.sleep(quietFor);
  const pool = new WorkerPool(first, () => new WorkerProcess(log, port), log);
  try {
    const { readSettings } = await import("../settings.ts");
    await supervise(pool, port, readSettings(env));
  } catch (error) {
    pool.kill();
    throw error;
  }
}

function failLike(how: number | string): never {
  if (how === cannotStart) process.exit(1); // the worker has said why
  throw new Error(`Cannot start: a worker ended with ${how} before it listened`);
}

async function supervise(pool: WorkerPool, port: number, settings: Settings): Promise<void> {
  const admin = serveAdmin(pool, settings);
  const how = await pool.grow(settings.workers);
  if (how !== null) failLike(how);
  obeySignals(pool, admin);
  const url = `http://${settings.host}:${port}/`;
  log("info", "listening", { url, workers: settings.workers, admin: admin.url.href });
}

function serveAdmin(pool: WorkerPool, { adminHost, adminPort }: Settings) {
  try {
    const pages = adminPages(() => pool.reports);
    return Bun.serve({
      hostname: adminHost,
      port: adminPort,
      development: false,
      reusePort: false,
      fetch: pages,
    });
  } catch (error) {
    throw new Error(
      `Cannot listen on ${adminHost}:${adminPort}: ${describeBindError(error)}; stop it or set ADMIN_PORT`,
    );
  }
}

function obeySignals(pool: WorkerPool, admin: Bun.Server<undefined>): void {
  const leave = async () => {
    log("info", "leaving");
    await pool.stop();
    await admin.stop(true);
    process.exit(0);
  };
  process.once("SIGTERM", leave);
  process.once("SIGINT", leave);
  process.on("SIGHUP", () => void pool.replace());
}

// What writes the log is loaded with its first line, after the workers were started.
function log(level: LogLevel, event: string, fields: Record<string, unknown> = {}): void {
  void import("./log-writer.ts").then(({ writeLog }) => writeLog(level, event, fields));
}
