/** How long the origin allows a response to be used, in seconds. */
export type Lifetimes = {
  maxAge: number;
  /** After that, while it is being revalidated (RFC 5861, section 3). */
  staleWhileRevalidate: number;
  /** After max-age, while the origin fails (RFC 5861, section 4). */
  staleIfError: number;
  browserMaxAge: number;
  browserStaleWhileRevalidate: number;
};

/**
 * Reads CDN-Cache-Control (RFC 9213), which is for the edge, and Cache-Control (RFC 9111), which is for browsers.
 * Null when the origin does not allow both to store the response.
 */
export function readLifetimes(headers: Headers): Lifetimes | null {
  const shared = readDirectives(headers.get("cdn-cache-control"));
  const browser = readDirectives(headers.get("cache-control"));
  const maxAge = seconds(shared, "max-age");
  const browserMaxAge = seconds(browser, "max-age");
  if (maxAge === null || browserMaxAge === null || forbidsStoring(shared) || forbidsStoring(browser))
    return null;
  return {
    maxAge,
    staleWhileRevalidate: seconds(shared, "stale-while-revalidate") ?? 0,
    staleIfError: seconds(shared, "stale-if-error") ?? 0,
    browserMaxAge,
    browserStaleWhileRevalidate: seconds(browser, "stale-while-revalidate") ?? 0,
  };
}

function readDirectives(field: string | null): Map<string, string> {
  const directives = (field ?? "").split(",").map((directive) => directive.trim().toLowerCase().split("="));
  return new Map(directives.map(([name = "", value = ""]) => [name, value]));
}

function forbidsStoring(directives: Map<string, string>): boolean {
  return ["no-store", "no-cache", "private"].some((name) => directives.has(name));
}

function seconds(directives: Map<string, string>, name: string): number | null {
  const text = directives.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
