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
  const pool = new WorkerPool((port) => new WorkerProcess(log, port), log);
  const opened = pool.open();
  obeySignals(pool);
  failUnlessNull(await opened);
  await Bun.sleep(quietFor);
  try {
    const { readSettings } = await import("../settings.ts");
    await supervise(pool, readSettings(env));
  } catch (error) {
    pool.kill();
    throw error;
  }
}

function failUnlessNull(how: null | number | string): void {
  if (how === cannotStart) process.exit(1); // the worker has said why
  if (how !== null) throw new Error(`Cannot start: a worker ended with ${how} before it listened`);
}

async function supervise(pool: WorkerPool, settings: Settings): Promise<void> {
  const admin = serveAdmin(pool, settings);
  failUnlessNull(await pool.grow(settings.workers));
  if (pool.isStopping) return;
  const url = `http://${settings.host}:${pool.port}/`;
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

function obeySignals(pool: WorkerPool): void {
  const leave = async () => {
    log("info", "leaving");
    await pool.stop();
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
