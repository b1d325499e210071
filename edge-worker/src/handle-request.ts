import {
  crossOriginFields,
  isReadMethod,
  longestTarget,
  matchesEntityTag,
  preflightFields,
  refusalDetails,
} from "@trendvault/contract/http";
import {
  allPageLanguages,
  failureOf,
  pageFields,
  pageLanguages,
  readPageHead,
} from "@trendvault/contract/page";
import {
  describeProblem,
  type Problem,
  type ProblemKind,
  problemContentType,
} from "@trendvault/contract/problem";
import type { InvalidParameter, ListRefusal } from "@trendvault/contract/queries";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import type { ViewServices } from "./count-views.ts";
import type { SourceRefusal } from "./document-source.ts";
import { type Logger, nullOnError } from "./log.ts";
import {
  browserCacheControl,
  type CanonicalRequest,
  canonicalize,
  canonicalPath,
  freshUntil,
  isList,
  isPage,
  pageLike,
} from "./policy.ts";
import type { CachedResponse, ReadThroughCache, RequestContext } from "./read-through.ts";
import type { StoredResponse } from "./signed-answer.ts";

const missPeriodSeconds = 60; // of MISS_RATE_LIMITER in wrangler.toml, which does not say how much of it is left

/** From a request, of which `url` is the address, to its response. `views` is null where nothing is counted. */
export async function handleRequest(
  request: Request,
  url: URL,
  { context, cache, views }: { context: RequestContext; cache: ReadThroughCache; views: ViewServices | null },
): Promise<Response> {
  if (url.pathname.length + url.search.length > longestTarget)
    return refuse("uri-too-long", refusalDetails["uri-too-long"]);
  if (canonicalPath(url.pathname) === null) return refuse("not-found", refusalDetails["not-found"]);
  if (request.method === "OPTIONS") return respond(204, preflightFields);
  if (!isReadMethod(request.method)) {
    const headers = { allow: preflightFields.allow };
    return refuse("method-not-allowed", refusalDetails["method-not-allowed"], { headers });
  }
  const country = (request.cf as IncomingRequestCfProperties | undefined)?.country;
  const read = canonicalize(url, country);
  if (read.canonical === null) return refuseParameters(read);
  const { canonical } = read;
  const result = await cache.read(canonical, context);
  const now = cache.clock();
  switch (result.kind) {
    case "response":
      if (isList(canonical) && isShown(result, request)) views?.served.count(canonical, now, context);
      return respondFromCache(result, { canonical, request, now });
    case "refused":
      return describeRefusal(result, canonical);
    case "origin-failed": {
      const detail = "The origin does not answer and this list is in no cache.";
      return refuse("not-ready", detail, { headers: { "retry-after": "5" } });
    }
    case "rate-limited": {
      const detail = "Your network has requested too many lists that are in no cache.";
      return refuse("too-many-requests", detail, { headers: { "retry-after": String(missPeriodSeconds) } });
    }
  }
}

/**
 * What goes wrong, for a person: a page in place of a problem, but not under /api/, where programs ask. `assets` has one
 * for each sentence and language that build.ts knew of; undefined in a deployment without that binding.
 */
export async function forPerson(
  request: Request,
  problem: Response,
  { assets, log }: { assets: { fetch(url: string): Promise<Response> } | undefined; log: Logger },
): Promise<Response> {
  const { status, headers } = problem;
  const { pathname, origin, searchParams } = new URL(request.url);
  if (headers.get("content-type") !== problemContentType || pathname.startsWith("/api/")) return problem;
  headers.append("vary", "Accept");
  const lang = searchParams.get("lang");
  const named = [allPageLanguages(), pageLanguages].map((known) =>
    failureOf(status, { headers: request.headers, lang, known })?.join("-"),
  );
  for (const name of new Set(named)) {
    if (name === undefined || !assets) break;
    const read = async () => (await assets.fetch(`${origin}/failures/${name}.html`)).text();
    const html = await nullOnError(read(), log, "page_not_read");
    const head = html && readPageHead(html);
    if (!head) continue;
    headers.append("vary", "Accept-Language");
    const kept = [...headers].filter(([field]) => /^(allow|retry-after|vary)$/.test(field));
    const fields = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
    return respond(status, { ...fields, ...Object.fromEntries(kept), ...pageFields(head, pathname) }, html);
  }
  return problem;
}

const shownDetails = new Set<CachedResponse["cacheStatus"]["detail"]>(["stale-while-revalidate", "bundle"]);

// What is served because the sources fail is older than the messages that are taken about it.
function isShown({ response, cacheStatus: { detail } }: CachedResponse, { method }: Request): boolean {
  return response.status === 200 && method === "GET" && (detail === undefined || shownDetails.has(detail));
}

// People follow old links: they get the page that is nearest to what is gone.
function describeRefusal({ refusal, nearest }: SourceRefusal, canonical: CanonicalRequest): Response {
  const { kind, detail, extras } = refusal;
  const location = nearest ?? nearestPage(refusal, canonical);
  if (location === null) return problemResponse(describeProblem(kind, detail, extras));
  return respond(303, { location, "cache-control": "no-store" });
}

function nearestPage({ kind }: ListRefusal, canonical: CanonicalRequest): string | null {
  const { query } = canonical;
  if (query === null || !isPage(canonical) || kind === "not-found") return null;
  const first = { ...query, cursor: undefined };
  const { region, window, lang } = query;
  return pageLike(canonical, kind === "generation-gone" ? first : { region, window, lang });
}

/** The HTTP response for a stored one: 304 when the client's entity tag matches. `now` in Unix seconds. */
function respondFromCache(
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

function headersOf(
  { response, cacheStatus: found, originSeconds }: CachedResponse,
  { regionFromCountry }: CanonicalRequest,
  now: number,
): Headers {
  const age = Math.max(0, Math.floor(now - response.fetchedAt));
  const cacheStatus = formatCacheStatus(found, freshUntil(response) - now);
  const timing =
    originSeconds === undefined ? "edge" : `edge, origin;dur=${Math.round(originSeconds * 1000)}`;
  const changing = `${age} ${timing} ${cacheStatus}`;
  const recent = recentHeaders[regionFromCountry ? "private" : "public"];
  const known = recent.get(response);
  if (known?.changing === changing) return known.headers;
  const headers = new Headers({
    ...baseHeaders,
    ...response.headers,
    // What does not exist may exist in a minute.
    ...(response.status === 200
      ? {
          vary: "Accept-Encoding",
          "cache-control": browserCacheControl(response.lifetimes, { regionFromCountry, age }),
        }
      : { "cache-control": "no-store" }),
    age: String(age),
    "cache-status": cacheStatus,
    "server-timing": timing,
  });
  recent.set(response, { changing, headers });
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

/** The value of Cache-Status (RFC 9211). `ttl`: how long the response is still fresh, in seconds; negative when it is not. */
function formatCacheStatus(cacheStatus: CachedResponse["cacheStatus"], ttl: number): string {
  const { fwd, fwdStatus, stored, collapsed, detail } = cacheStatus;
  return [
    "trendvault",
    fwd === null ? "hit" : `fwd=${fwd}`,
    fwdStatus === undefined ? "" : `fwd-status=${fwdStatus}`,
    stored ? "stored" : "",
    collapsed ? "collapsed" : "",
    `ttl=${Math.floor(ttl)}`,
    detail === undefined ? "" : `detail=${detail}`,
  ]
    .filter((part) => part !== "")
    .join("; ");
}

/** A response that is a problem (RFC 9457). Never stored. `headers` are added, for example Allow. */
function problemResponse(problem: Problem, headers: Record<string, string> = {}): Response {
  const fields = { "content-type": problemContentType, "cache-control": "no-store", ...headers };
  return respond(problem.status, fields, JSON.stringify(problem));
}

/** A problem that the edge finds itself. */
export function refuse(
  kind: ProblemKind,
  detail: string,
  { headers, ...more }: Pick<Problem, "invalid"> & { headers?: Record<string, string> } = {},
): Response {
  return problemResponse(describeProblem(kind, detail, more), headers);
}

/** A problem that names each parameter that is wrong. */
export function refuseParameters({ invalid, kind = "invalid-parameter" }: Refused): Response {
  const detail = invalid.map((parameter) => `${parameter.name}: ${parameter.detail}`).join("; ");
  return refuse(kind, detail, { invalid });
}

type Refused = { invalid: InvalidParameter[]; kind?: ProblemKind };

/** A response with these headers and those of every response. */
export function respond(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | null = null,
): Response {
  return new Response(body, { status, headers: { ...baseHeaders, ...headers } });
}

/** The headers of every response: readable by any site, and nothing that a browser could run, guess or leak. */
const baseHeaders: Readonly<Record<string, string>> = {
  ...crossOriginFields,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/**
 * The network that an address is counted under: an IPv4 address itself, and of an IPv6 address its first groups of 16
 * bits. The first 64 bits are one subscriber's, who has all the others to choose from; 48 are often one site's.
 */
export function networkOf(address: string, groups: 3 | 4): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::"); // "::" is as many zero groups as are missing from 8
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(missing).fill("0"), ...after].slice(0, groups).join(":");
}
