import type { ListRefusal } from "@trendvault/contract/list-refusals";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import type { CacheStatus } from "./cache-status.ts";
import type { EdgeServices } from "./edge-services.ts";
import { refuseUnpublished } from "./refuse-unpublished.ts";
import type { FallbackResponse, RequestContext, RevalidationResult } from "./revalidator.ts";

/** What a client gets: a response, why there is none, or nothing for now. */
export type CacheResult =
  | CachedResponse
  | { kind: "refused"; refusal: ListRefusal }
  | { kind: "unavailable"; reason: UnavailableReason };

/** A stored response, and how it was found. `originSeconds`: how long the origin took, if it was asked. */
export type CachedResponse = {
  kind: "response";
  response: StoredResponse;
  cacheStatus: CacheStatus;
  originSeconds?: number;
};

export type UnavailableReason = "origin-failed" | "rate-limited";

const hit: CacheStatus = { fwd: null };

/**
 * Reads through the cache. A fresh response is served; a stale one is served and revalidated in the background;
 * without either the client waits for the origin, and gets the expired response when that fails. After a failure
 * the next clients do not wait for another.
 */
export async function readThrough(
  request: CanonicalRequest,
  context: RequestContext,
  services: EdgeServices,
): Promise<CacheResult> {
  const { cache, revalidator, clock } = services;
  const response = await cache.match(request.target);
  const freshness = response === null ? "unusable" : freshnessAt(clock(), response);
  if (response !== null && freshness === "fresh") return { kind: "response", response, cacheStatus: hit };
  if (response !== null && freshness === "stale") {
    revalidator.revalidateInBackground(request, context);
    return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-while-revalidate" } };
  }
  const failure = revalidator.recentFailure(request.target);
  const refuse = (last: RevalidationResult | undefined) =>
    refuseUnpublished(request, { context, services, doubted: last !== undefined && isRefused(last) });
  const refusal = await refuse(failure?.result);
  if (refusal !== null) return { kind: "refused", refusal };
  if (failure !== null && (failure.isBackingOff || hasFallback(failure.result))) {
    revalidator.revalidateInBackground(request, context);
    return toCacheResult(failure.result, hit);
  }
  const { result, collapsed } = await revalidator.revalidate(request, context);
  const late = isRefused(result) ? await refuse(result) : null;
  if (late !== null) return { kind: "refused", refusal: late };
  return toCacheResult(result, { fwd: freshness === "unusable" ? "miss" : "stale", collapsed });
}

function toCacheResult(result: RevalidationResult, cacheStatus: CacheStatus): CacheResult {
  switch (result.kind) {
    case "already-fresh":
      return { ...result, kind: "response", cacheStatus: hit };
    case "fetched":
      return {
        ...result,
        kind: "response",
        cacheStatus: { ...cacheStatus, fwdStatus: result.response.status, stored: true },
      };
    case "rate-limited":
      return fromFallback(result.fallback, hit) ?? { kind: "unavailable", reason: "rate-limited" };
    case "backing-off":
      return fromFallback(result.fallback, hit) ?? { kind: "unavailable", reason: "origin-failed" };
    case "failure":
      return (
        fromFallback(result.fallback, cacheStatus) ?? {
          kind: "unavailable",
          reason: "origin-failed",
        }
      );
  }
}

// The origin says so without a signature: what it has published decides.
function isRefused(result: RevalidationResult): boolean {
  return result.kind === "failure" && (result.status === 400 || result.status === 410);
}

function hasFallback(result: RevalidationResult): boolean {
  return "fallback" in result && result.fallback !== null;
}

function fromFallback(fallback: FallbackResponse | null, cacheStatus: CacheStatus): CacheResult | null {
  if (fallback === null) return null;
  const { response, source } = fallback;
  return { kind: "response", response, cacheStatus: { ...cacheStatus, detail: source } };
}
