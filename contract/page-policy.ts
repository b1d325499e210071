/** What a page of people may load and do in their browser, for origin and edge. */

/**
 * The header fields of an HTML page. `thumbHosts` (host, or host:port) are those whose pictures it shows, beside its own.
 * Nothing inline, nothing of others, no markup made of texts (Trusted Types); the one policy named makes the address of
 * the service worker.
 */
export function pagePolicy(thumbHosts: readonly string[]): Record<string, string> {
  const pictures = ["'self'", ...thumbHosts].join(" ");
  return {
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${pictures}; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types trendvault`,
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy":
      "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=(), xr-spatial-tracking=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}

/** The hosts of a comma-separated list; null when one of them is no host name or address with an optional port. */
export function readThumbHosts(text: string): string[] | null {
  const hosts = text.split(",").flatMap((part) => part.trim().toLowerCase() || []);
  return hosts.every((host) => /^[\w.-]+(:\d+)?$/.test(host)) ? hosts : null;
}
