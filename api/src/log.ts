import { constants, fstatSync, openSync, writeSync } from "node:fs";

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

/** Gives how many of the bytes were written; of a socket below 0 for none. */
type Write = (bytes: Uint8Array) => number;

let write: Write | undefined;
let isCut = false;

/** Standard output, without waiting for a reader, which could hold the process for ever. */
function openOutput(): Write {
  const output = fstatSync(1);
  if (output.isSocket()) return openSocket();
  const file = output.isFIFO() ? openPipe() : 1;
  return (bytes) => writeSync(file, bytes);
}

function openPipe(): number {
  try {
    return openSync("/proc/self/fd/1", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return 1; // it is another user's, or nobody has it open to read
  }
}

/** journald's, which may hang. It cannot be opened anew, and each process that Bun starts makes it a waiting one again. */
function openSocket(): Write {
  const [dontWait, noSignal] = [0x40, 0x4000]; // of send(2) on Linux
  try {
    const { dlopen } = require("bun:ffi") as typeof import("bun:ffi");
    const { symbols } = dlopen("libc.so.6", {
      send: { args: ["int", "ptr", "usize", "int"], returns: "int" },
    });
    return (bytes) => symbols.send(1, bytes, bytes.length, dontWait | noSignal);
  } catch {
    return (bytes) => writeSync(1, bytes); // another libc
  }
}

/** What a line of the log has: `time` is first, and UTC. */
export function logLine(...[level, event, message, facts = {}]: Parameters<Logger>) {
  return { time: new Date().toISOString(), level, event, message, ...facts, pid: process.pid };
}

/** Writes one JSON object a line on standard output. A log that cannot be written, now or at all, ends and holds nothing. */
export const writeLog: Logger = (...line) => {
  const bytes = Buffer.from(`${isCut ? "\n" : ""}${JSON.stringify(logLine(...line))}\n`);
  try {
    write ??= openOutput();
    const written = write(bytes);
    if (written > 0) isCut = written < bytes.length;
  } catch {} // a full disk, or a pipe that is closed or full
};
