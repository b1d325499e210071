import { browserFreshSeconds } from "@trendvault/contract/lists";

/** How long the origin allows a response to be used, in seconds. */
export type Lifetimes = {
  maxAge: number;
  /** After that, while it is being revalidated (RFC 5861, section 3). */
  staleWhileRevalidate: number;
  /** After max-age, while the origin fails (RFC 5861, section 4). */
  staleIfError: number;
};

/** No response is used for longer, whatever the origin says; seconds. */
const longest: Lifetimes = { maxAge: 3600, staleWhileRevalidate: 3600, staleIfError: 86_400 };

/**
 * Reads the value of TrendVault-Cache-Control, a targeted field (RFC 9213). Null when it does not allow to store the
 * response.
 */
export function readLifetimes(field: string): Lifetimes | null {
  const directives = readDirectives(field);
  const maxAge = seconds(directives, "max-age");
  if (maxAge === null || ["no-store", "no-cache", "private"].some((name) => directives.has(name)))
    return null;
  const { staleWhileRevalidate, staleIfError } = longest;
  return {
    maxAge: Math.min(maxAge, longest.maxAge),
    staleWhileRevalidate: Math.min(seconds(directives, "stale-while-revalidate") ?? 0, staleWhileRevalidate),
    staleIfError: Math.min(seconds(directives, "stale-if-error") ?? 0, staleIfError),
  };
}

/** How long a response with these lifetimes can be of any use, counted from when it was fetched. */
export function usableSeconds({ maxAge, staleWhileRevalidate, staleIfError }: Lifetimes): number {
  return maxAge + Math.max(staleWhileRevalidate, staleIfError);
}

/** How long a browser may use a response that it has just got. */
export function browserSeconds({ maxAge }: Lifetimes): number {
  return Math.min(maxAge, browserFreshSeconds);
}

function readDirectives(field: string): Map<string, string> {
  const directives = field.split(",").map((directive) => directive.trim().toLowerCase().split("="));
  return new Map(directives.map(([name = "", value = ""]) => [name, value]));
}

function seconds(directives: Map<string, string>, name: string): number | null {
  const text = directives.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
