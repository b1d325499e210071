import type { Environment } from "../key-files.ts";
import type { Logger } from "../log.ts";
import type { Origin } from "../origin.ts";
import type { Settings } from "../settings.ts";

/** How a worker is doing: sent once a second, and whenever `degradedReason` changes. */
export type WorkerReport = ReturnType<Origin["status"]> & {
  /** The longest delay of a timer since the last report. */
  eventLoopLagSeconds: number;
  residentBytes: number;
  /** Clients that are connected. */
  connections: number;
};

/** The environment that was read at the start, with the text of its files in the place of their paths, and what it says. */
export type Launch = {
  environment: Environment;
  settings: Pick<Settings, "host" | "databasePath" | "workers" | "adminHost" | "adminPort">;
};

/** From a worker to its supervisor. `launch` is null where the supervisor has read it. */
export type WorkerMessage =
  | { type: "ready"; port: number; launch: Launch | null }
  | { type: "report"; report: WorkerReport }
  | { type: "log"; line: Parameters<Logger> };

/** From the supervisor to a worker: open the database anew. */
export type SupervisorMessage = { type: "reopen" };

/** To a worker whose successor listens: as SIGTERM, but load balancers are not told to go elsewhere. */
export const replacedSignal = "SIGUSR2";

/** The exit code of a worker that cannot start; it has written the reason on standard error. */
export const cannotStartCode = 78; // EX_CONFIG of sysexits.h
