import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import type { CacheStatus } from "./cache-status.ts";
import type { SourceRefusal } from "./document-source.ts";
import type { EdgeServices } from "./edge-services.ts";
import { refuseUnpublished } from "./refuse-unpublished.ts";
import type { FallbackResponse, RequestContext, RevalidationResult } from "./revalidator.ts";

/** What a client gets: a response, why there is none, or nothing for now. */
export type CacheResult =
  | CachedResponse
  | ({ kind: "refused" } & SourceRefusal)
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
 * without either the client waits for the sources, and gets the expired response when they fail. After a failure
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
    return toCacheResult(failure.result, hit, clock());
  }
  const { result, collapsed } = await revalidator.revalidate(request, context);
  const late = isRefused(result) ? await refuse(result) : null;
  if (late !== null) return { kind: "refused", refusal: late };
  return toCacheResult(result, { fwd: freshness === "unusable" ? "miss" : "stale", collapsed }, clock());
}

function toCacheResult(result: RevalidationResult, cacheStatus: CacheStatus, now: number): CacheResult {
  switch (result.kind) {
    case "already-fresh":
      return { ...result, kind: "response", cacheStatus: hit };
    case "fetched": {
      const { response, originSeconds } = result;
      const found = {
        ...cacheStatus,
        fwdStatus: response.status,
        stored: true,
        ...sourceDetail(result, now),
      };
      return { kind: "response", response, originSeconds, cacheStatus: found };
    }
    case "unchanged":
      return unchangedResult(result.response, now);
    case "refused":
      return result;
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

/** Which source a document comes from, when that is to be known: one that is as old as a copy is marked like one. */
function sourceDetail(
  { response, isFallback }: Extract<RevalidationResult, { kind: "fetched" }>,
  now: number,
): Pick<CacheStatus, "detail"> {
  if (response.bundle === undefined) return {};
  if (freshnessAt(now, response) === "expired") return { detail: "bundle-fallback" };
  return isFallback ? { detail: "bundle" } : {};
}

/** A stored response of which no source has a newer one. */
function unchangedResult(response: StoredResponse, now: number): CacheResult {
  switch (freshnessAt(now, response)) {
    case "fresh":
      return { kind: "response", response, cacheStatus: hit };
    case "stale":
      return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-while-revalidate" } };
    case "expired":
      return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-if-error" } };
    case "unusable":
      return { kind: "unavailable", reason: "origin-failed" };
  }
}

// The origin says so without a signature: what it has published decides.
function isRefused(result: RevalidationResult): boolean {
  return result.kind === "failure" && (result.status === 400 || result.status === 410);
}

function hasFallback(result: RevalidationResult): boolean {
  return result.kind === "unchanged" || ("fallback" in result && result.fallback !== null);
}

function fromFallback(fallback: FallbackResponse | null, cacheStatus: CacheStatus): CacheResult | null {
  if (fallback === null) return null;
  const { response, source } = fallback;
  return { kind: "response", response, cacheStatus: { ...cacheStatus, detail: source } };
}
