import type { Settings } from "../settings.ts";
import { adminPages } from "./admin.ts";
import type { LogLevel } from "./log.ts";
import { cannotStart } from "./messages.ts";
import { WorkerPool } from "./worker-pool.ts";
import { WorkerProcess } from "./worker-process.ts";

/**
 * Starts the workers and looks after them: SIGTERM and SIGINT let them finish, SIGHUP replaces them one at a
 * time. The first worker gets ready while this process finds out whether it may. Throws an Error of one
 * sentence when it cannot start.
 */
export async function runSupervisor(env: Record<string, string | undefined>): Promise<void> {
  const first = new WorkerProcess(log);
  try {
    const { readSettings } = await import("../settings.ts");
    await supervise(first, readSettings(env));
  } catch (error) {
    first.kill();
    throw error;
  }
}

async function supervise(first: WorkerProcess, settings: Settings): Promise<void> {
  const port = claimPort(settings.host, settings.port);
  const pool = new WorkerPool(() => startWorker(port), log);
  const admin = serveAdmin(pool, settings);
  first.listen(port);
  const how = await pool.open(first, settings.workers);
  if (how !== null) pool.kill();
  if (how === cannotStart) process.exit(1); // the worker has said why
  if (how !== null) throw new Error(`Cannot start: a worker ended with ${how} before it listened`);
  obeySignals(pool, admin);
  const url = `http://${settings.host}:${port}/`;
  log("info", "listening", { url, workers: settings.workers, admin: admin.url.href });
}

function startWorker(port: number): WorkerProcess {
  const worker = new WorkerProcess(log);
  worker.listen(port);
  return worker;
}

/**
 * Finds out whether a port is free by binding it alone for a moment: workers share theirs, so that a second
 * origin would bind it without an error and take half of the requests.
 */
function claimPort(hostname: string, port: number): number {
  try {
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) });
    const claimed = probe.port ?? port; // gone after the stop
    void probe.stop(true);
    return claimed;
  } catch (error) {
    throw new Error(`Cannot listen on ${hostname}:${port}: ${describe(error)}; stop it or set PORT`);
  }
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
      `Cannot listen on ${adminHost}:${adminPort}: ${describe(error)}; stop it or set ADMIN_PORT`,
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

function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  return code === "EADDRINUSE" ? "another program listens there" : message;
}

// What writes the log is loaded with its first line, after the workers were started.
function log(level: LogLevel, event: string, fields: Record<string, unknown> = {}): void {
  void import("./log-writer.ts").then(({ writeLog }) => writeLog(level, event, fields));
}
