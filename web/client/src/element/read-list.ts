import type { TrendingChartPage, TrendingPage } from "../../generated/types.gen.ts";
import { ProblemError, readJson } from "../problem-error.ts";
import type { Send } from "../requests/retrying-send.ts";

/** What the element shows: with `fields=chart`, items have sparklines. */
export type List = TrendingChartPage | TrendingPage;

/** Where a list came from: the cache or the origin, or what the edge has kept because the origin fails. */
export type ListState = "live" | "stale" | "fallback";

/** `ageSeconds`: how long ago the list was made. `freshSeconds`: for how long asking again gives the same. */
export type ReadList = { list: List; state: ListState; ageSeconds: number; freshSeconds: number };

/** Why nothing new could be read. */
export type Failure = "offline" | "unavailable" | "unverified";

/** The list that the server rendered into the page, from the data block in the element; null when it did not. */
export function readGivenList(element: Element): List | null {
  const block = element.querySelector(':scope > script[type="application/json"]');
  return block === null ? null : (JSON.parse(block.textContent ?? "") as List);
}

/** Reads a page of a list. @throws ProblemError, VerificationError, or what fetch() throws */
export async function readList(send: Send, request: Request): Promise<ReadList> {
  const response = await send(request);
  const list = await readJson<List>(response);
  return { list, ...describeAge(list, response.headers) };
}

const staleSeconds = 900; // the edge serves a list for 12 minutes, and longer only while the origin fails

/** By the server's clock where it tells it: the visitor's may be wrong. */
export function describeAge(list: List, headers: Headers): Omit<ReadList, "list"> {
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const field = headers.get("age") ?? "";
  const age = /^\d{1,9}$/.test(field) ? Number(field) : 0; // RFC 9111, section 1.2.2
  const sinceMade = Math.round((now - Date.parse(list.generated_at)) / 1000) || 0;
  const ageSeconds = Math.max(0, age, sinceMade);
  const maxAge = Number(/\bmax-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1] ?? 0);
  return {
    state: stateOf(headers.get("cache-status"), ageSeconds),
    ageSeconds,
    freshSeconds: Math.max(0, maxAge - age),
  };
}

function stateOf(cacheStatus: string | null, ageSeconds: number): ListState {
  if (cacheStatus?.includes("kv-fallback")) return "fallback";
  return cacheStatus?.includes("stale-if-error") || ageSeconds > staleSeconds ? "stale" : "live";
}

/** What a visitor is told of an error. */
export function failureOf(error: unknown): Failure {
  // By name: the class is in the part of the package that is loaded for verification only.
  if (error instanceof Error && error.name === "VerificationError") return "unverified";
  return error instanceof ProblemError || navigator.onLine !== false ? "unavailable" : "offline";
}
