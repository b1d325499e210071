import {
  answerLifetimes,
  browserFreshSeconds,
  browserStaleSeconds,
  lifetimesField,
} from "@trendvault/contract/lists";

/**
 * How long an answer may be used. Browsers keep it for half a minute; shared caches longer, and serve it stale while
 * they revalidate or the origin fails (RFC 5861, RFC 9213). No s-maxage: it would switch stale serving off.
 */
export const cachedFields = {
  "cache-control": `public, max-age=${browserFreshSeconds}, stale-while-revalidate=${browserStaleSeconds}`,
  "cdn-cache-control": `public, ${answerLifetimes}`,
  [lifetimesField]: answerLifetimes,
} as const;

/** For answers that describe a moment or a failure. */
export const notStoredFields = { "cache-control": "no-store" } as const;
