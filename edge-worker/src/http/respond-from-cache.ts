import { matchesEntityTag } from "@trendvault/contract/if-none-match";
import { formatCacheStatus } from "../cache/cache-status.ts";
import type { CachedResponse } from "../cache/read-through.ts";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshUntil } from "../rules/freshness.ts";
import { baseHeaders } from "./base-headers.ts";

/** The HTTP response for a stored one: 304 when the client's entity tag matches. `now` in Unix seconds. */
export function respondFromCache(
  result: CachedResponse,
  { canonical, request, now }: { canonical: CanonicalRequest; request: Request; now: number },
): Response {
  const { response } = result;
  const headers = {
    ...baseHeaders,
    ...response.headers,
    ...cacheControlHeaders(response, canonical),
    ...diagnosticHeaders(result, now),
  };
  const ifNoneMatch = request.headers.get("if-none-match");
  const etag = response.headers.etag;
  if (ifNoneMatch !== null && etag !== undefined && matchesEntityTag(ifNoneMatch, etag)) {
    const { "content-type": _, ...validators } = headers;
    return new Response(null, { status: 304, headers: validators });
  }
  return new Response(request.method === "HEAD" ? null : response.body, { headers });
}

// The response to a URL without a region depends on the client's country: no shared cache may store it.
function cacheControlHeaders(
  { lifetimes, target }: StoredResponse,
  { regionFromCountry }: CanonicalRequest,
): Record<string, string> {
  const { browserMaxAge, browserStaleWhileRevalidate } = lifetimes;
  const directives = `max-age=${browserMaxAge}, stale-while-revalidate=${browserStaleWhileRevalidate}`;
  const vary = { vary: "Accept-Encoding" };
  return regionFromCountry
    ? { ...vary, "cache-control": `private, ${directives}`, "content-location": target }
    : { ...vary, "cache-control": `public, ${directives}` };
}

function diagnosticHeaders(
  { response, cacheStatus, originSeconds }: CachedResponse,
  now: number,
): Record<string, string> {
  const timing =
    originSeconds === undefined ? "edge" : `edge, origin;dur=${Math.round(originSeconds * 1000)}`;
  return {
    age: String(Math.max(0, Math.floor(now - response.fetchedAt))),
    "cache-status": formatCacheStatus(cacheStatus, freshUntil(response) - now),
    "server-timing": timing,
  };
}
