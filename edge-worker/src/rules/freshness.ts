import { isFromFuture } from "@trendvault/contract/lists";
import { browserSeconds, type Lifetimes } from "./lifetimes.ts";

/**
 * fresh: serve. stale: serve, and revalidate in the background. expired: ask the origin first, and serve only if
 * that fails. unusable: do not serve.
 */
export type Freshness = "fresh" | "stale" | "expired" | "unusable";

/** The times of a stored response, in Unix seconds. */
export type StoredTimes = { generatedAt: number; fetchedAt: number; lifetimes: Lifetimes };

/**
 * The end of freshness, in Unix seconds. It is counted from when the ranking was made, which was before it was fetched,
 * whatever the writer's clock said: counted from when it was fetched, every cache on the way would add its lifetime to
 * the list's age. But the newest ranking may be old, when the writer has stopped; then the origin is asked again no
 * sooner than a browser would ask.
 */
export function freshUntil({ generatedAt, fetchedAt, lifetimes }: StoredTimes): number {
  return Math.max(Math.min(generatedAt, fetchedAt) + lifetimes.maxAge, fetchedAt + browserSeconds(lifetimes));
}

/**
 * The end of staleness is counted from the fetch: the token in the body was made then, and must not expire
 * (15 minutes) before the response does. A time of the future, by a clock that was ahead or is behind, says nothing about
 * age; such a response is better than none, for as long as one that is old.
 */
export function freshnessAt(now: number, response: StoredTimes): Freshness {
  const { fetchedAt, lifetimes } = response;
  if (isFromFuture(fetchedAt, now)) return fetchedAt - now < lifetimes.staleIfError ? "expired" : "unusable";
  const staleSince = fetchedAt + lifetimes.maxAge;
  if (now < freshUntil(response)) return "fresh";
  if (now < staleSince + lifetimes.staleWhileRevalidate) return "stale";
  if (now < staleSince + lifetimes.staleIfError) return "expired";
  return "unusable";
}
