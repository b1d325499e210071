import { allowedMethods, crossOriginFields } from "@trendvault/contract/http";
import { describeProblem, type ProblemKind, problemContentType } from "@trendvault/contract/problem";
import { notStoredFields } from "../resources/cache-policy.ts";
import type { Refusal } from "../resources/refusal.ts";

/** The answer to a refusal (RFC 9457). Never stored: the next generation or a restart may change it. */
export function problemResponse({ kind, detail, extras }: Refusal): Response {
  const problem = describeProblem(kind, detail, extras);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": problemContentType,
      ...notStoredFields,
      ...crossOriginFields,
      ...fieldsByKind[kind],
    },
  });
}

const fieldsByKind: Partial<Record<ProblemKind, Record<string, string>>> = {
  "method-not-allowed": { allow: allowedMethods },
  "not-acceptable": { vary: "Accept-Encoding" },
  busy: { "retry-after": "1" },
  "not-ready": { "retry-after": "5" },
};
