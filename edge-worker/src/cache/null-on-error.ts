import type { LogEntry, Logger } from "../log/logger.ts";

/** The promise's value, or null when it fails: the edge goes on without that cache, and logs a warning. */
export function nullOnError<T>(
  promise: Promise<T>,
  log: Logger,
  entry: Pick<LogEntry, "event" | "message">,
): Promise<T | null> {
  return promise.catch((error) => {
    log({ level: "warning", ...entry, error: String(error) });
    return null;
  });
}
