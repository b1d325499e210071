import {
  describeProblem,
  type Problem,
  type ProblemKind,
  problemContentType,
} from "@trendvault/contract/problem";
import { notStored } from "./cache-policy.ts";

/** An answer that is a problem (RFC 9457). `headers` are added, for example Allow or Retry-After. */
export function problemResponse(
  kind: ProblemKind,
  detail: string,
  { headers = {}, ...more }: Pick<Problem, "invalid" | "restart"> & { headers?: Record<string, string> } = {},
): Response {
  const problem = describeProblem(kind, detail, more);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": problemContentType,
      ...notStored,
      "access-control-allow-origin": "*",
      ...headers,
    },
  });
}
