/** How long the origin allows an answer to be used, in seconds. */
export type Lifetimes = {
  fresh: number;
  /** After that, while it is being renewed (RFC 5861). */
  stale: number;
  /** After that, while the origin fails (RFC 5861). */
  staleIfError: number;
  browserFresh: number;
  browserStale: number;
};

/**
 * Reads them from CDN-Cache-Control (RFC 9213), which speaks to us, and Cache-Control, which speaks to browsers.
 * Null when the origin does not allow both to keep the answer.
 */
export function readLifetimes(headers: Headers): Lifetimes | null {
  const shared = readDirectives(headers.get("cdn-cache-control"));
  const browser = readDirectives(headers.get("cache-control"));
  const fresh = seconds(shared, "max-age");
  const browserFresh = seconds(browser, "max-age");
  if (fresh === null || browserFresh === null || forbidsStoring(shared) || forbidsStoring(browser))
    return null;
  return {
    fresh,
    stale: seconds(shared, "stale-while-revalidate") ?? 0,
    staleIfError: seconds(shared, "stale-if-error") ?? 0,
    browserFresh,
    browserStale: seconds(browser, "stale-while-revalidate") ?? 0,
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
