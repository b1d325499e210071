import {
  describeProblem,
  type Problem,
  type ProblemKind,
  problemContentType,
} from "@trendvault/contract/problem";
import { everyAnswer } from "./fields.ts";

/** An answer that is a problem (RFC 9457). Never stored. `fields` are added, for example Allow. */
export function problemResponse(problem: Problem, fields: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...everyAnswer, "content-type": problemContentType, "cache-control": "no-store", ...fields },
  });
}

/** A problem that the edge finds itself. */
export function refuse(
  kind: ProblemKind,
  detail: string,
  { fields, ...more }: Pick<Problem, "invalid"> & { fields?: Record<string, string> } = {},
): Response {
  return problemResponse(describeProblem(kind, detail, more), fields);
}
