/** `seconds` is the mean wait after the first failure; `random` gives a number from 0 to below 1. */
export type BackoffOptions = { seconds: number; random: () => number };

const longestFactor = 24; // two minutes when `seconds` is 5

/** No wait is longer, in seconds. */
export function longestBackoffSeconds({ seconds }: BackoffOptions): number {
  return seconds * longestFactor;
}

/**
 * How long to wait after a number of failures in a row: at random, up to twice as long with each of them (full jitter:
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). At least `retryAfter` seconds, but that is
 * not signed, so it is bounded as well.
 */
export function backoffSeconds(failures: number, retryAfter: number, options: BackoffOptions): number {
  const longest = longestBackoffSeconds(options);
  const jittered = options.random() * Math.min(longest, options.seconds * 2 ** failures);
  return Math.max(jittered, Math.min(retryAfter, longest));
}

/** The seconds that Retry-After asks for, a number or a date (RFC 9110, section 10.2.3); 0 when it does not. */
export function readRetryAfter(field: string | null, now: number): number {
  if (field === null) return 0;
  const seconds = /^\d+$/.test(field) ? Number(field) : Date.parse(field) / 1000 - now;
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds);
}
