import { matchesEntityTag } from "@trendvault/contract/http";
import { browserStaleSeconds } from "@trendvault/contract/lists";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { formatCacheStatus } from "../cache/cache-status.ts";
import type { CachedResponse } from "../cache/read-through.ts";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshUntil } from "../rules/freshness.ts";
import { browserSeconds, usableSeconds } from "../rules/lifetimes.ts";
import { baseHeaders } from "./base-headers.ts";

/** The HTTP response for a stored one: 304 when the client's entity tag matches. `now` in Unix seconds. */
export function respondFromCache(
  result: CachedResponse,
  { canonical, request, now }: { canonical: CanonicalRequest; request: Request; now: number },
): Response {
  const { status, body } = result.response;
  const headers = headersOf(result, canonical, now);
  if (isKnown(request, result.response)) return withoutBody(304, headers);
  if (request.method === "HEAD") return withoutBody(status, headers, body);
  return new Response(body, { status, headers });
}

/** The last headers of a stored response: most hits come in the same second as another, and to copy them costs less. */
type RecentHeaders = WeakMap<StoredResponse, { changing: string; headers: Headers }>;
const recentHeaders: Record<"public" | "private", RecentHeaders> = {
  public: new WeakMap(),
  private: new WeakMap(),
};

function headersOf(result: CachedResponse, { regionFromCountry }: CanonicalRequest, now: number): Headers {
  const { response } = result;
  const scope = regionFromCountry ? "private" : "public";
  const age = ageOf(response, now);
  const cacheStatus = formatCacheStatus(result.cacheStatus, freshUntil(response) - now);
  const timing = formatTiming(result.originSeconds);
  const changing = `${age} ${timing} ${cacheStatus}`;
  const known = recentHeaders[scope].get(response);
  if (known?.changing === changing) return known.headers;
  const headers = new Headers({
    ...baseHeaders,
    ...response.headers,
    ...cacheControlHeaders(response, { scope, age }),
    age: String(age),
    "cache-status": cacheStatus,
    "server-timing": timing,
  });
  recentHeaders[scope].set(response, { changing, headers });
  return headers;
}

function isKnown(request: Request, { status, headers }: StoredResponse): boolean {
  if (status !== 200) return false; // a condition is for what exists (RFC 9110, section 13.2.1)
  const ifNoneMatch = request.headers.get("if-none-match");
  return ifNoneMatch !== null && headers.etag !== undefined && matchesEntityTag(ifNoneMatch, headers.etag);
}

// A browser holds a digest against the body that it has got.
function withoutBody(status: number, whole: Headers, body?: string): Response {
  const headers = new Headers(whole);
  for (const name of bodyOnlyFields) headers.delete(name);
  if (body === undefined) headers.delete("content-type");
  else headers.set("content-length", String(new TextEncoder().encode(body).length));
  return new Response(null, { status, headers });
}

/**
 * Ours, not the origin's: a browser may use every response for half a minute from now, as long as it is of any use.
 * (It subtracts Age.) The response to a URL without a region depends on the client's country: no shared cache may store
 * it. What does not exist may exist in a minute.
 */
function cacheControlHeaders(
  { status, lifetimes }: StoredResponse,
  { scope, age }: { scope: string; age: number },
): Record<string, string> {
  if (status !== 200) return { "cache-control": "no-store" };
  const left = Math.max(0, usableSeconds(lifetimes) - age);
  const fresh = Math.min(browserSeconds(lifetimes), left);
  const stale = Math.min(browserStaleSeconds, left - fresh);
  return {
    vary: "Accept-Encoding",
    "cache-control": `${scope}, max-age=${age + fresh}, stale-while-revalidate=${stale}`,
  };
}

function formatTiming(originSeconds: number | undefined): string {
  return originSeconds === undefined ? "edge" : `edge, origin;dur=${Math.round(originSeconds * 1000)}`;
}

function ageOf({ fetchedAt }: StoredResponse, now: number): number {
  return Math.max(0, Math.floor(now - fetchedAt));
}
