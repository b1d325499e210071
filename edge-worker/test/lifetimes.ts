import { signAgain } from "./keys.ts";
import type { Behaviour } from "./origin-proxy.ts";

/** For tests that nothing is revalidated in, however busy the machine is. */
export const longLifetimes = { maxAge: 3600, staleWhileRevalidate: 3600, staleIfError: 43_200 };

/**
 * Passes responses on with other lifetimes, in seconds, signed with the origin's key: the edge takes them from the
 * origin, so tests need not wait. A lifetime of 0 is over at once.
 */
export function withLifetimes(lifetimes: {
  maxAge: number;
  staleWhileRevalidate: number;
  staleIfError: number;
}): Behaviour {
  const { maxAge, staleWhileRevalidate, staleIfError } = lifetimes;
  const field = [
    `max-age=${maxAge}`,
    `stale-while-revalidate=${staleWhileRevalidate}`,
    `stale-if-error=${staleIfError}`,
  ].join(", ");
  return (whole) => signAgain({ ...whole, headers: { ...whole.headers, "trendvault-cache-control": field } });
}
