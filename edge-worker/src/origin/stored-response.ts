import type { Lifetimes } from "../rules/lifetimes.ts";

/** Where StoredResponses are in the Cache API and in KV. Another form needs another name: both outlive a deployment. */
export const storageNamespace = "stored-responses-3";

/**
 * A validated response of the origin, or of a bundle, as plain data: it can be shared between requests, cached and put
 * into KV. Times are Unix seconds.
 */
export type StoredResponse = {
  /** Canonical path and query: what was requested, and the cache key. */
  target: string;
  /** 404: the origin has signed that it does not exist. */
  status: 200 | 404;
  body: string;
  /** The fields that the origin has signed, its signature, and the link to the next page. */
  headers: Record<string, string>;
  /** When the ranking was made that the body comes from. */
  generatedAt: number;
  /** When the origin was asked for it, and this was the newest; of a bundle, when that was rendered. */
  fetchedAt: number;
  lifetimes: Lifetimes;
  /** The generation of the bundle that it comes from; the origin's own answers have none. */
  bundle?: number;
};

/** Whether a response comes from a later ranking than another, or from the same one later. */
export function isNewer(response: StoredResponse, than: StoredResponse): boolean {
  if (response.generatedAt !== than.generatedAt) return response.generatedAt > than.generatedAt;
  return response.fetchedAt > than.fetchedAt;
}
