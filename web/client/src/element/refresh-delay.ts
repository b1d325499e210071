/** How refreshing has gone so far. */
export type RefreshHistory = {
  /** For how long the last list is fresh. */
  freshSeconds: number;
  /** How many refreshes have failed since one did not. */
  failures: number;
  /** What the server asked for with the last failure, or null. */
  retryAfterSeconds: number | null;
};

const shortestSeconds = 60; // a list is made every minute
const longestSeconds = 900;
const longestAskedSeconds = 86_400; // what a server may ask for: a timer that is set for 25 days runs at once

/**
 * When to ask for a newer list, in seconds from now: when this one's lifetime is over, but not before a minute; after
 * failures twice as long each time, up to a quarter of an hour, and never sooner than the server asks for. Up to a
 * quarter is added (`random` is 0 to 1), so that pages that were opened together do not ask together. No field of an answer
 * makes it wait for less than a minute or more than a day or so: none of those is signed.
 */
export function refreshDelay(
  { freshSeconds, failures, retryAfterSeconds }: RefreshHistory,
  random: number,
): number {
  const usual = freshSeconds > shortestSeconds ? Math.min(freshSeconds, longestSeconds) : shortestSeconds;
  const backoff = Math.min(usual * 2 ** failures, longestSeconds);
  const asked = Math.min(retryAfterSeconds || 0, longestAskedSeconds);
  return Math.max(backoff, asked) * (1 + random / 4);
}
