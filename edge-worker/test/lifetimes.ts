import type { Behaviour } from "./network.ts";

/** Hands answers on with other lifetimes, in seconds: the edge takes them from the origin, so time can be compressed. */
export function withLifetimes(times: {
  fresh: number;
  stale: number;
  staleIfError: number;
  browser: number;
}): Behaviour {
  const { fresh, stale, staleIfError, browser } = times;
  return (answer) => ({
    ...answer,
    headers: {
      ...answer.headers,
      "cache-control": `public, max-age=${browser}`,
      "cdn-cache-control": `max-age=${fresh}, stale-while-revalidate=${stale}, stale-if-error=${staleIfError}`,
    },
  });
}
