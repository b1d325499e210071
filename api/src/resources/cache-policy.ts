/**
 * How long an answer may be used. Browsers keep it for half a minute; shared caches longer, and serve it stale while
 * they revalidate or the origin fails (RFC 5861, RFC 9213). No s-maxage: it would switch stale serving off.
 */
export const cachedFields = {
  "cache-control": "public, max-age=30, stale-while-revalidate=60",
  "cdn-cache-control": "public, max-age=120, stale-while-revalidate=600, stale-if-error=86400",
} as const;

/** For answers that describe a moment or a failure. */
export const notStoredFields = { "cache-control": "no-store" } as const;
