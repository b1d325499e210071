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

let output: number | undefined;

// Not before the first line: a supervisor has a worker to start, and node:fs would take a tenth of its time until then.
function files(): typeof import("node:fs") {
  return require("node:fs");
}

/** Standard output. A pipe is opened anew: without waiting for a reader, which could hold the process for ever. */
function openOutput(): number {
  const { constants, fstatSync, openSync } = files();
  if (!fstatSync(1).isFIFO()) return 1;
  try {
    return openSync("/proc/self/fd/1", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return 1; // it is another user's, or nobody has it open to read
  }
}

/** Writes one JSON object a line on standard output. A log that cannot be written, now or at all, ends and holds nothing. */
export const writeLog: Logger = (level, event, message, facts = {}) => {
  const line = { time: new Date().toISOString(), level, event, message, ...facts, pid: process.pid };
  try {
    output ??= openOutput();
    files().writeSync(output, `${JSON.stringify(line)}\n`);
  } catch {} // a full disk, or a pipe that is closed or full
};
