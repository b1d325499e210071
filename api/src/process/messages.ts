import type { Inspection } from "../database/inspector.ts";
import type { LogFacts, LogLevel } from "../logging/logger.ts";
import type { OriginStatus } from "../origin.ts";

/** How a worker is doing: sent once a second, and whenever `degradedReason` changes. */
export type WorkerReport = OriginStatus & {
  /** The longest delay of a timer since the last report. */
  eventLoopLagSeconds: number;
  residentBytes: number;
};

/** From a worker to its supervisor. */
export type WorkerMessage =
  | { type: "ready"; port: number }
  | { type: "report"; report: WorkerReport }
  | { type: "log"; level: LogLevel; event: string; message: string; facts: LogFacts };

/** From the supervisor to a worker: open the database anew. */
export type SupervisorMessage = { type: "reopen" };

/** From the inspector to the supervisor, once a second. */
export type InspectorMessage = Inspection;

/** The exit code of a worker that cannot start; it has written the reason on standard error. */
export const cannotStartCode = 78; // EX_CONFIG of sysexits.h
