import { allowedMethods } from "./http-rules.ts";

/**
 * The response fields that scripts of other sites may read besides those that they always may (Fetch standard,
 * "CORS-safelisted response-header name"): what docs/http-api.md and docs/stability.md promise, and what it takes to
 * verify a signature in a browser.
 */
export const exposedFields = [
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
