import type { ProblemKind } from "./problem.ts";
import type { InvalidParameter } from "./trending-query.ts";

/** What origin and edge both allow and refuse: a client cannot see which of them answered. */

/** Characters of path and query together; a longer request target is 414. */
export const longestTarget = 2048;

/**
 * Bytes of the longest body before content coding: the edge reads no more of one. The script of /docs has 1.7 MB; a feed or
 * a page of the longest texts and addresses that the writer takes has less than a MB.
 */
export const longestBody = 2 * 1024 * 1024;

/** The value of Allow, on every path. */
export const allowedMethods = "GET, HEAD, OPTIONS";

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
