import { pino } from "pino";
import type { Logger } from "./logger.ts";

const lines = pino(
  {
    base: null,
    customLevels: { warning: 40 },
    formatters: { level: (level) => ({ level }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: (line) => line.replace(levelAndTime, '{"time":"$2","level":"$1"') },
  },
  pino.destination(1),
);

// pino writes the level first. The time comes first in the lines of all parts, so that they can be sorted as text.
const levelAndTime = /^\{"level":"([a-z]+)","time":"([^"]+)"/;

/** Writes one JSON object a line on standard output: time, level, event, message, facts. */
export const writeLog: Logger = (level, event, message, facts = {}) =>
  lines[level]({ event, message, ...facts, pid: process.pid });
