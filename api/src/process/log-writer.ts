import { pino } from "pino";
import type { Logger } from "./log.ts";

const lines = pino(
  { base: { pid: process.pid }, messageKey: "event", timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination(1),
);

/** One JSON line on standard output. */
export const writeLog: Logger = (level, event, fields = {}) => lines[level](fields, event);
