import type { Origin } from "../origin.ts";

/** How a worker is doing: sent once a second, and whenever `degradedReason` changes. */
export type WorkerReport = ReturnType<Origin["status"]> & {
  slot: number;
  pid: number;
  /** Requests that this process has answered; `counters` have those of the ones before it in its slot, too. */
  answered: number;
  /** The longest delay of a timer since the last report. */
  eventLoopLagSeconds: number;
  residentBytes: number;
  /** Clients that are connected. */
  connections: number;
};

/** How often workers ended by themselves. */
export type WorkerExits = { crashed: number; hung: number };

/**
 * From the supervisor (supervisor.c) to a worker: the report of another one or of the one before it, that nothing serves
 * in a slot for the moment, how often workers have ended, and to open the database anew. What is sent at the start ends
 * with `exits`.
 */
export type SupervisorMessage =
  | { report: WorkerReport }
  | { gone: number }
  | { exits: WorkerExits }
  | { reopen: true };

/** To a worker whose successor listens: as SIGTERM, but load balancers are not told to go elsewhere. */
export const replacedSignal = "SIGUSR2";

/** The exit code of a worker that cannot start; it has written the reason on standard error. */
export const cannotStartCode = 78; // EX_CONFIG of sysexits.h
