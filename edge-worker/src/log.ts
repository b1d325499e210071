import { timeLimit } from "./single-flight.ts";

/**
 * A line of the log. `event` is a stable name in snake_case, `message` a sentence for people; the other members are
 * facts. Nothing about a visitor may be in it.
 */
type LogEntry = { level: "warning" | "error"; event: string; message: string } & Record<string, unknown>;

export type Logger = (entry: LogEntry) => void;

/** What the edge can go without, by the event that is logged when it fails. */
const warnings = {
  cache_not_read: "The data centre's cache could not be read.",
  rate_limiter_failed: "The rate limiter could not be asked.",
  response_not_stored: "A response was served but not stored.",
  fallback_not_read: "The KV fallback could not be used.",
  bundle_not_stored: "A part of a bundle could not be cached.",
  page_not_read: "The page of a person who goes wrong could not be read.",
  bundle_failed: "The ranks of a list could not be read from a bundle.",
};

/** How long some of these are waited for, in seconds. */
const patience: Partial<Record<keyof typeof warnings, number>> = {
  rate_limiter_failed: 1,
  fallback_not_read: 1,
  page_not_read: 1,
};

/** The promise's value, or null when it fails or takes too long: the edge goes on without it, and logs a warning. */
export function nullOnError<T>(
  promise: Promise<T>,
  log: Logger,
  event: keyof typeof warnings,
): Promise<T | null> {
  const seconds = patience[event];
  const bounded = seconds === undefined ? promise : timeLimit(seconds)(promise);
  return bounded.catch((error) => {
    log({ level: "warning", event, message: warnings[event], error: String(error) });
    return null;
  });
}

/** What a rate limiter says. Without it, breakers, single flights and the ceiling from served lists bound what gets through. */
export async function isAllowed(limited: Promise<boolean>, log: Logger): Promise<boolean> {
  return (await nullOnError(limited, log, "rate_limiter_failed")) !== false;
}
