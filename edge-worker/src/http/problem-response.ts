import {
  describeProblem,
  type Problem,
  type ProblemKind,
  problemContentType,
} from "@trendvault/contract/problem";
import { baseHeaders } from "./base-headers.ts";

/** A response that is a problem (RFC 9457). Never stored. `headers` are added, for example Allow. */
export function problemResponse(problem: Problem, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...baseHeaders, "content-type": problemContentType, "cache-control": "no-store", ...headers },
  });
}

/** A problem that the edge finds itself. */
export function refuse(
  kind: ProblemKind,
  detail: string,
  { headers, ...more }: Pick<Problem, "invalid"> & { headers?: Record<string, string> } = {},
): Response {
  return problemResponse(describeProblem(kind, detail, more), headers);
}
