import type { Problem } from "@trendvault/contract/problem";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import type { CacheStatus } from "./cache-status.ts";
import type { FallbackResponse, RequestContext, RevalidationResult, Revalidator } from "./revalidator.ts";
import type { TieredCache } from "./tiered-cache.ts";

/** What a client gets: a response, the origin's verdict that the request is wrong, or nothing for now. */
export type CacheResult =
  | CachedResponse
  | { kind: "problem"; problem: Problem }
  | { kind: "unavailable"; reason: UnavailableReason };

/** A stored response, and how it was found. `originSeconds`: how long the origin took, if it was asked. */
export type CachedResponse = {
  kind: "response";
  response: StoredResponse;
  cacheStatus: CacheStatus;
  originSeconds?: number;
};

export type UnavailableReason = "origin-failed" | "rate-limited";

/** What the requests of one isolate share. `clock` gives Unix seconds. */
export type EdgeServices = { cache: TieredCache; revalidator: Revalidator; clock: () => number };

const hit: CacheStatus = { fwd: null };

/**
 * Reads through the cache. A fresh response is served; a stale one is served and revalidated in the background;
 * without either the client waits for the origin, and gets the expired response when that fails. After a failure
 * the next clients do not wait for another.
 */
export async function readThrough(
  request: CanonicalRequest,
  context: RequestContext,
  { cache, revalidator, clock }: EdgeServices,
): Promise<CacheResult> {
  const response = await cache.match(request.target);
  const freshness = response === null ? "unusable" : freshnessAt(clock(), response);
  if (response !== null && freshness === "fresh") return { kind: "response", response, cacheStatus: hit };
  if (response !== null && freshness === "stale") {
    revalidator.revalidateInBackground(request, context);
    return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-while-revalidate" } };
  }
  const failure = revalidator.recentFailure(request.target);
  if (failure !== null && (failure.isBackingOff || hasFallback(failure.result))) {
    revalidator.revalidateInBackground(request, context);
    return toCacheResult(failure.result, hit);
  }
  const { result, collapsed } = await revalidator.revalidate(request, context);
  return toCacheResult(result, { fwd: freshness === "unusable" ? "miss" : "stale", collapsed });
}

function toCacheResult(result: RevalidationResult, cacheStatus: CacheStatus): CacheResult {
  switch (result.kind) {
    case "problem":
      return result;
    case "already-fresh":
      return { ...result, kind: "response", cacheStatus: hit };
    case "fetched":
      return { ...result, kind: "response", cacheStatus: { ...cacheStatus, fwdStatus: 200, stored: true } };
    case "rate-limited":
      return fromFallback(result.fallback, hit) ?? { kind: "unavailable", reason: "rate-limited" };
    case "failure":
      return (
        fromFallback(result.fallback, withStatus(cacheStatus, result.status)) ?? {
          kind: "unavailable",
          reason: "origin-failed",
        }
      );
  }
}

function hasFallback(result: RevalidationResult): boolean {
  return result.kind === "failure" && result.fallback !== null;
}

function fromFallback(fallback: FallbackResponse | null, cacheStatus: CacheStatus): CacheResult | null {
  if (fallback === null) return null;
  const { response, source } = fallback;
  return { kind: "response", response, cacheStatus: { ...cacheStatus, detail: source } };
}

function withStatus(cacheStatus: CacheStatus, status: number | null): CacheStatus {
  return status === null || cacheStatus.fwd === null ? cacheStatus : { ...cacheStatus, fwdStatus: status };
}
