import type { Copy } from "./copy.ts";

/**
 * fresh: serve. stale: serve, and renew in the background. expired: ask first, serve only if the origin fails.
 * unusable: do not serve.
 */
export type Freshness = "fresh" | "stale" | "expired" | "unusable";

type Times = Pick<Copy, "generatedAt" | "checkedAt" | "lifetimes">;

/**
 * The end of freshness, in Unix seconds. It is counted from when the ranking was made: counted from when it was
 * fetched, every cache on the way would add its lifetime to the list's age. But the newest there is may be old,
 * when the writer stands still or the copy is pinned; then the origin is asked again no sooner than a browser would.
 */
export function freshUntil({ generatedAt, checkedAt, lifetimes }: Times): number {
  return Math.max(generatedAt + lifetimes.fresh, checkedAt + lifetimes.browserFresh);
}

/**
 * Staleness is counted from the origin's last word: the token in the body was made then, and must not
 * run out (15 minutes) before the copy does.
 */
export function freshnessAt(now: number, copy: Times): Freshness {
  const { checkedAt, lifetimes } = copy;
  if (now < freshUntil(copy)) return "fresh";
  if (now < checkedAt + lifetimes.fresh + lifetimes.stale) return "stale";
  if (now < checkedAt + lifetimes.fresh + lifetimes.staleIfError) return "expired";
  return "unusable";
}
