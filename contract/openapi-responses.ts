import * as z from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import { problemExamples } from "./examples.ts";
import { type ProblemKind, problemContentType, problemKinds, problems, problemType } from "./problem.ts";
import { ProblemDocument } from "./responses.ts";
import { coveredComponents } from "./signature-base.ts";

const strongTag = z
  .string()
  .meta({ description: "A strong entity tag; each content coding has its own (RFC 9110)" });

const retryAfter = z.string().meta({ description: "Seconds to wait before the next request (RFC 9110)" });

const failuresByStatus = new Map<number, ZodOpenApiResponseObject>();

/** The fields of every answer that may be cached. */
export const cachedFields = {
  ETag: strongTag,
  "Cache-Control": z.string().meta({ description: "For browsers" }),
  "CDN-Cache-Control": z
    .string()
    .optional()
    .meta({ description: "For shared caches (RFC 9213); at the origin only" }),
  "TrendVault-Cache-Control": z.string().meta({
    description: "For our edge, which reads no other lifetimes (RFC 9213). It is signed",
  }),
  "Content-Location": z.string().meta({
    description: "The canonical URL of what is answered (RFC 9110). It is signed",
  }),
  Vary: z
    .string()
    .meta({ description: "The request fields that select the representation: Accept-Encoding" }),
  "Unencoded-Digest": z.string().meta({
    description: "SHA-256 of the body before content coding (draft-ietf-httpbis-unencoded-digest)",
  }),
  "Signature-Input": z.string().meta({
    description: `RFC 9421, over ${coveredComponents.join(", ")}; the keys are at /.well-known/jwks.json`,
  }),
  Signature: z.string().meta({ description: "RFC 9421, ed25519" }),
};

// Every path but /healthz may also give these.
const commonProblems: ProblemKind[] = [
  "edge-signature",
  "not-acceptable",
  "uri-too-long",
  "too-many-requests",
  "internal",
  "busy",
  "not-ready",
];

/** The request fields of every path whose answer may be cached. */
export function conditions() {
  return z.object({
    "If-None-Match": z.string().optional().meta({
      description: "The ETag of a stored response; 304 if it is still current",
    }),
  });
}

/** An example, or one of each shape by its name. */
type Example = { example: unknown } | { examples: Record<string, { summary: string; value: unknown }> };

type Success = Example & { contentType?: string; headers?: z.ZodObject };

/** The responses of a path that may be cached: the answer, and 304. */
export function success(
  description: string,
  schema: z.ZodType,
  { contentType = "application/json", headers = z.object(cachedFields), ...examples }: Success,
): Record<string, ZodOpenApiResponseObject> {
  return {
    "200": {
      description,
      headers,
      content: { [contentType]: { schema, ...examples } },
    },
    "304": {
      description: "The stored answer with this ETag is current",
      headers: z.object({ ETag: strongTag }),
    },
  };
}

/** The responses of these problem types, and of those that every path but /healthz may give. */
export function failures(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
  return failuresAlone(...kinds, ...commonProblems);
}

/** The responses of these problem types and of no other. */
export function failuresAlone(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
  const statuses = kinds.map((kind) => problems[kind].status);
  return Object.fromEntries(statuses.map((status) => [status, failureOf(status)]));
}

/** The response with a status: one component for all paths, with an example for every problem type that has it. */
function failureOf(status: number): ZodOpenApiResponseObject {
  const known = failuresByStatus.get(status);
  if (known !== undefined) return known;
  const kinds = problemKinds.filter((kind) => problems[kind].status === status);
  const examples = kinds.map((kind) => [
    kind,
    { summary: problems[kind].title, value: problemExamples[kind] },
  ]);
  const failure = {
    id: `Problem${status}`,
    description: kinds.map((kind) => `\`${problemType(kind)}\`: ${problems[kind].title}`).join("; "),
    ...(kinds.some(isTemporary) && { headers: z.object({ "Retry-After": retryAfter }) }),
    content: { [problemContentType]: { schema: ProblemDocument, examples: Object.fromEntries(examples) } },
  };
  failuresByStatus.set(status, failure);
  return failure;
}

function isTemporary(kind: ProblemKind): boolean {
  return problems[kind].status === 429 || problems[kind].status === 503;
}
