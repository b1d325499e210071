import { matchesEntityTag } from "@trendvault/contract/http";
import type { CacheEntry } from "../serving/cache-entry.ts";
import type { Representation } from "../serving/representation.ts";

/** 304 when the client has the representation already, else 200. */
export function send(representation: Representation, request: Request, entry: CacheEntry): Response {
  const ifNoneMatch = request.headers.get("if-none-match");
  entry.hits++;
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, representation.etag)) {
    entry.counters.notModified++;
    return representation.notModified.clone() as Response;
  }
  entry.counters.ok++;
  entry.counters.bytes += representation.bytes;
  return representation.ok.clone() as Response; // sending a Response uses it up
}
