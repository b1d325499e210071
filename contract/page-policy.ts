/** What a page of people may load and do in their browser. */

/**
 * The Content-Security-Policy that a page has in its first elements, where the origin's signature covers it. `thumbHosts`
 * (host, or host:port) are those whose pictures it shows, beside its own. Nothing inline, nothing of others, no markup made
 * of texts (Trusted Types); the one policy named makes the address of the service worker.
 */
export function contentPolicy(thumbHosts: readonly string[]): string {
  const pictures = ["'self'", ...thumbHosts].join(" ");
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${pictures}; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types trendvault`;
}

/**
 * The policy of /docs, which Swagger UI draws: its pictures are `data:` in its style sheet, and it sets innerHTML itself,
 * so that Trusted Types cannot be asked for. Nothing of others, and nothing inline.
 */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** The policy of the service worker's script, wherever it comes from: what it may load is what the pages of all visitors can. */
export const workerPolicy = "default-src 'none'; connect-src 'self'";

/**
 * The hosts of a comma-separated list; null when one of them is no host name or address with an optional port, or when they
 * are too long for a policy that the edge reads from the head of a page.
 */
export function readThumbHosts(text: string): string[] | null {
  const hosts = text.split(",").flatMap((part) => part.trim().toLowerCase() || []);
  if (hosts.join(" ").length > longestHosts) return null;
  return hosts.every((host) => /^[\w.-]+(:\d+)?$/.test(host)) ? hosts : null;
}

const longestHosts = 2000; // characters
