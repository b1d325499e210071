import { pageUrl } from "@trendvault/contract/page";
import { viewsPath } from "@trendvault/contract/paths";
import { describeProblem } from "@trendvault/contract/problem";
import type { InvalidParameter, ListRefusal } from "@trendvault/contract/queries";
import type { CacheStatus } from "../cache/cache-status.ts";
import type { SourceRefusal } from "../cache/document-source.ts";
import type { EdgeServices } from "../cache/edge-services.ts";
import { type CachedResponse, readThrough, type UnavailableReason } from "../cache/read-through.ts";
import { type CanonicalRequest, canonicalize, isList, isPage } from "../rules/canonical-request.ts";
import type { ViewServices } from "../views/view-services.ts";
import { baseHeaders } from "./base-headers.ts";
import { problemResponse, refuse } from "./problem-response.ts";
import { respondFromCache } from "./respond-from-cache.ts";
import { type MessageContext, respondToViews } from "./respond-to-views.ts";
import { respondWithoutCache } from "./respond-without-cache.ts";

const missPeriodSeconds = 60; // of MISS_RATE_LIMITER in wrangler.toml, which does not say how much of it is left

/** From a request to its response. `views` is null where nothing is counted. */
export async function handleRequest(
  request: Request,
  context: MessageContext,
  services: EdgeServices & { views: ViewServices | null },
): Promise<Response> {
  const url = new URL(request.url);
  const { views } = services;
  if (views !== null && url.pathname.startsWith(viewsPath)) {
    const response = await respondToViews(request, url, { context, views });
    if (response !== null) return response;
  }
  const direct = respondWithoutCache(request, url);
  if (direct !== null) return direct;
  const { canonical, invalid } = canonicalize(url, countryOf(request));
  if (canonical === null) return refuseParameters(invalid);
  const result = await readThrough(canonical, context, services);
  switch (result.kind) {
    case "response":
      if (views !== null && isList(canonical) && isShown(result, request))
        views.served.count(canonical, services.clock(), context);
      return respondFromCache(result, { canonical, request, now: services.clock() });
    case "refused":
      return describeRefusal(result, canonical);
    case "unavailable":
      return refuseForNow(result.reason);
  }
}

const shownDetails = new Set<CacheStatus["detail"]>(["stale-while-revalidate", "bundle"]);

// What is served because the sources fail is older than the messages that are taken about it.
function isShown({ response, cacheStatus: { detail } }: CachedResponse, { method }: Request): boolean {
  return response.status === 200 && method === "GET" && (detail === undefined || shownDetails.has(detail));
}

// People follow old links: they get the page that is nearest to what is gone.
function describeRefusal({ refusal, nearest }: SourceRefusal, canonical: CanonicalRequest): Response {
  const { kind, detail, extras } = refusal;
  const location = nearest ?? nearestPage(refusal, canonical);
  if (location === null) return problemResponse(describeProblem(kind, detail, extras));
  const headers = { ...baseHeaders, location, "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

function nearestPage({ kind }: ListRefusal, canonical: CanonicalRequest): string | null {
  const { query } = canonical;
  if (query === null || !isPage(canonical) || kind === "not-found") return null;
  const { category, ...others } = { ...query, cursor: undefined };
  return pageUrl(kind === "generation-gone" ? { ...others, category } : others);
}

function refuseParameters(invalid: InvalidParameter[]): Response {
  const detail = invalid.map((parameter) => `${parameter.name}: ${parameter.detail}`).join("; ");
  return refuse("invalid-parameter", detail, { invalid });
}

function refuseForNow(reason: UnavailableReason): Response {
  return reason === "origin-failed"
    ? refuse("not-ready", "The origin does not answer and this list is in no cache.", {
        headers: { "retry-after": "5" },
      })
    : refuse("too-many-requests", "Your network has requested too many lists that are in no cache.", {
        headers: { "retry-after": String(missPeriodSeconds) },
      });
}

function countryOf(request: Request): string | undefined {
  return (request.cf as IncomingRequestCfProperties | undefined)?.country;
}
