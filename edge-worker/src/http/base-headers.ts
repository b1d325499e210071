import { crossOriginFields } from "@trendvault/contract/http";

/** The headers of every response: readable by any site, and nothing that a browser could run, guess or leak. */
export const baseHeaders: Readonly<Record<string, string>> = {
  ...crossOriginFields,
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
