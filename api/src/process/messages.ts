import type { Logger } from "../log.ts";
import type { Origin } from "../origin.ts";

/** How a worker is doing: sent once a second, and whenever `degradedReason` changes. */
export type WorkerReport = ReturnType<Origin["status"]> & {
  /** The longest delay of a timer since the last report. */
  eventLoopLagSeconds: number;
  residentBytes: number;
};

/** From a worker to its supervisor. */
export type WorkerMessage =
  | { type: "ready"; port: number }
  | { type: "report"; report: WorkerReport }
  | { type: "log"; line: Parameters<Logger> };

/** From the supervisor to a worker: open the database anew. */
export type SupervisorMessage = { type: "reopen" };

/** The exit code of a worker that cannot start; it has written the reason on standard error. */
export const cannotStartCode = 78; // EX_CONFIG of sysexits.h
