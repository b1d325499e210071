/**
 * A line of the log. `event` is a stable name in snake_case, `message` a sentence for people; the other members are
 * facts. Nothing about a visitor may be in it.
 */
type LogEntry = { level: "warning" | "error"; event: string; message: string } & Record<string, unknown>;

export type Logger = (entry: LogEntry) => void;

/** Writes a line in the shape that all parts share: time, level, event, message, facts. */
export const logToConsole: Logger = ({ level, event, message, ...facts }) => {
  console.error(JSON.stringify({ time: new Date().toISOString(), level, event, message, ...facts }));
};

type Entry = Pick<LogEntry, "event" | "message">;

/** What is logged of the data centre's cache, and of the rate limiters. */
export const cacheNotRead: Entry = {
  event: "cache_not_read",
  message: "The data centre's cache could not be read.",
};
export const limiterFailed: Entry = {
  event: "rate_limiter_failed",
  message: "The rate limiter could not be asked.",
};

/** The promise's value, or null when it fails: the edge goes on without that cache, and logs a warning. */
export function nullOnError<T>(promise: Promise<T>, log: Logger, entry: Entry): Promise<T | null> {
  return promise.catch((error) => {
    log({ level: "warning", ...entry, error: String(error) });
    return null;
  });
}
