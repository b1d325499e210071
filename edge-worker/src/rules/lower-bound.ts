import { isFromFuture } from "@trendvault/contract/lists";
import { freshnessAt, type StoredTimes } from "./freshness.ts";

/**
 * The stored response, where no answer may be older than it. A time of the future says nothing about age: what was
 * stored by a clock that was ahead is served, but is no lower bound.
 */
export function onlyBound<Stored extends StoredTimes>(stored: Stored | null, now: number): Stored | null {
  return stored !== null && isFromFuture(stored.fetchedAt, now) ? null : stored;
}

/**
 * The stored response, where it may be served. One that may not is no lower bound: a database restored from a backup is
 * older, and right.
 */
export function onlyUsable<Stored extends StoredTimes>(stored: Stored | null, now: number): Stored | null {
  return stored !== null && freshnessAt(now, stored) !== "unusable" ? stored : null;
}
