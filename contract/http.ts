import { toBase64url } from "./keys.ts";
import type { ProblemKind } from "./problem.ts";
import type { InvalidParameter } from "./queries.ts";

/** What origin and edge both allow and refuse: a client cannot see which of them answered. */

/** Characters of path and query together; a longer request target is 414. */
export const longestTarget = 2048;

/**
 * Bytes of the longest body before content coding: the edge reads no more of one. The script of /docs has 1.7 MB; a feed or
 * a page of the longest texts and addresses that the writer takes has less than a MB.
 */
export const longestBody = 2 * 1024 * 1024;

/** The value of Allow, on every path. */
const allowedMethods = "GET, HEAD, OPTIONS";

/** Whether a method requests a representation: GET, or HEAD for its fields alone. */
export function isReadMethod(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** Why a query is refused at a path that has none. */
export const unexpectedParameter: InvalidParameter = { name: "(unknown)", detail: "expected no parameters" };

/** The `detail` of the problems that both give. */
export const refusalDetails = {
  "not-found": "No such path; see /openapi.json.",
  "method-not-allowed": "Only GET, HEAD and OPTIONS are allowed.",
  "uri-too-long": `Path and query may have at most ${longestTarget} characters together.`,
} as const satisfies Partial<Record<ProblemKind, string>>;

/**
 * The response fields that scripts of other sites may read besides those that they always may (Fetch standard,
 * "CORS-safelisted response-header name"): what docs/http-api.md promises, and what it takes to
 * verify a signature in a browser.
 */
const exposedFields = [
  "Age",
  "Allow",
  "Cache-Status",
  "Content-Location",
  "Deprecation",
  "ETag",
  "Link",
  "Retry-After",
  "Server-Timing",
  "Signature",
  "Signature-Input",
  "Sunset",
  "TrendVault-Cache-Control",
  "Unencoded-Digest",
] as const;

/** On every answer of the API: any site's scripts may read it, without credentials, and see how long it took. */
export const crossOriginFields = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposedFields.join(", "),
  "timing-allow-origin": "*",
} as const;

/** The fields of the answer (204) to OPTIONS, for people and for CORS preflights. */
export const preflightFields = {
  ...crossOriginFields,
  allow: allowedMethods,
  "access-control-allow-methods": allowedMethods,
  "access-control-allow-headers": "If-None-Match",
  "access-control-max-age": "86400",
} as const;

/**
 * Whether If-None-Match names an entity tag, or any ("*"). Weak comparison: a tag and the same tag marked W/ are
 * equal (RFC 9110, sections 8.8.3.2 and 13.1.2). A malformed list matches up to its first mistake.
 */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  const opaque = etag.startsWith("W/") ? etag.slice(2) : etag;
  for (const [, listed] of ifNoneMatch.matchAll(listedTag)) if (listed === opaque) return true;
  return false;
}

// One element of the list; a comma may be part of a tag.
const listedTag = /[ \t,]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)/gy;

/**
 * The strong entity tag of a body whose SHA-256 is `digest`. `form`: a coding, whose other bytes need another tag (RFC
 * 9110, section 8.8.3.3); without it, the body is sent as it is.
 */
export function entityTag(digest: Uint8Array, form?: string): string {
  const tag = toBase64url(digest.subarray(0, 16));
  return form === undefined ? `"${tag}"` : `"${tag}-${form}"`;
}

/** A trace as the field `traceparent` carries it (W3C Trace Context, version 00). */

export const traceparentHeader = "traceparent";

/** A request of ours, in a trace that begins with it. The ids are 32 and 16 hexadecimal digits. */
type Trace = { traceId: string; spanId: string; traceparent: string };

/** A trace of random numbers: they say nothing of whom it is for. Whoever gets it decides whether to record it. */
export function beginTrace(): Trace {
  const [traceId, spanId] = [randomHex(), randomHex().slice(0, 16)];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-00` };
}

/** The trace id in a `traceparent` (section 3.2), or null when it is none. */
export function readTraceId(traceparent: string | null): string | null {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/.exec(traceparent ?? "");
  const traceId = match?.[1] ?? null;
  return traceId === "0".repeat(32) ? null : traceId;
}

function randomHex(): string {
  return crypto.randomUUID().replaceAll("-", ""); // 122 of 128 bits are random, and it is never zero
}
