import type { CounterSnapshot } from "../serving/counters.ts";
import type { LogLevel } from "./log.ts";

/** What a worker tells about itself, once a second and whenever its trouble changes. */
export type Report = {
  counters: CounterSnapshot;
  /** Null until something was published. */
  generation: { id: number; publishedAt: number } | null;
  /** Why the last good generation is served instead of the newest. */
  trouble: string | null;
  /** The longest delay of a timer since the last report: how long the event loop did not turn. */
  lagSeconds: number;
  rssBytes: number;
};

/** From a worker to its supervisor. */
export type WorkerMessage =
  | { type: "ready"; port: number }
  | { type: "report"; report: Report }
  | { type: "log"; level: LogLevel; event: string; fields: Record<string, unknown> };

/** A worker that cannot start says why on standard error and leaves with this. */
export const cannotStart = 78; // EX_CONFIG of sysexits.h
