import type { Lifetimes } from "./lifetimes.ts";

/**
 * A verified copy of what the origin answered, as plain data: it can be shared between requests, cached and put
 * into KV. Times are Unix seconds.
 */
export type Copy = {
  /** Canonical path and query: what was asked, and the cache key. */
  target: string;
  body: string;
  /** The origin's fields that belong to the body: its type, validator, signature and links. */
  fields: Record<string, string>;
  /** When the ranking was made that the body comes from. */
  generatedAt: number;
  /** When the origin was asked and said: this is the newest. */
  checkedAt: number;
  lifetimes: Lifetimes;
};

/** Whether a copy comes from a later ranking than another, or from the same one later. */
export function isNewer(copy: Copy, than: Copy): boolean {
  if (copy.generatedAt !== than.generatedAt) return copy.generatedAt > than.generatedAt;
  return copy.checkedAt > than.checkedAt;
}
