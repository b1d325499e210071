import { writeSync } from "node:fs";

/**
 * Writes a line of the log. `event` names what happened, in snake_case, and never changes; people read `message`, a
 * sentence or two. `facts` are in snake_case, with units in their names.
 */
export type Logger = (
  level: "info" | "warning" | "error",
  event: string,
  message: string,
  facts?: Record<string, unknown>,
) => void;

/** Writes one JSON object a line on standard output. A log that cannot be written ends nothing. */
export const writeLog: Logger = (level, event, message, facts = {}) => {
  const line = { time: new Date().toISOString(), level, event, message, ...facts, pid: process.pid };
  try {
    writeSync(1, `${JSON.stringify(line)}\n`);
  } catch {} // a full disk, or a closed pipe
};
