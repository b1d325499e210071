import type { Behaviour } from "./origin-proxy.ts";

/**
 * Passes responses on with other lifetimes, in seconds: the edge takes them from the origin, so tests need not wait.
 * A lifetime of 0 is over at once.
 */
export function withLifetimes(lifetimes: {
  maxAge: number;
  staleWhileRevalidate: number;
  staleIfError: number;
  browserMaxAge: number;
}): Behaviour {
  const { maxAge, staleWhileRevalidate, staleIfError, browserMaxAge } = lifetimes;
  return (whole) => ({
    ...whole,
    headers: {
      ...whole.headers,
      "cache-control": `public, max-age=${browserMaxAge}`,
      "cdn-cache-control": [
        `max-age=${maxAge}`,
        `stale-while-revalidate=${staleWhileRevalidate}`,
        `stale-if-error=${staleIfError}`,
      ].join(", "),
    },
  });
}
