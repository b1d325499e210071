import * as z from "zod";
import { createDocument, type ZodOpenApiPathsObject, type ZodOpenApiResponseObject } from "zod-openapi";
import {
  exampleVideoId,
  problemExamples,
  publicKeysExample,
  regionListExample,
  trendingPageExample,
  videoExample,
} from "./examples.ts";
import { viewPaths } from "./openapi-views.ts";
import { type ProblemKind, problemContentType, problemKinds, problems, problemType } from "./problem.ts";
import { renderProblemPage } from "./problem-page.ts";
import { ProblemDocument, PublicKeys, RegionList, TrendingPage, Video } from "./responses.ts";
import { coveredComponents } from "./signature-base.ts";
import { describedTrendingQuery } from "./trending-query-descriptions.ts";
import { videoIdPattern } from "./video-id.ts";

/** The OpenAPI 3.1 description of the API, made from the schemas. openapi.json is its text. */
export function createOpenapiDocument() {
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "TrendVault",
      version: "1",
      description:
        "The videos that trend in each market. Every client gets the same response; it is signed and may be cached.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The host that serves this document" }],
    paths,
  });
}

const strongTag = z
  .string()
  .meta({ description: "A strong entity tag; each content coding has its own (RFC 9110)" });

const retryAfter = z.string().meta({ description: "Seconds to wait before the next request (RFC 9110)" });

const failuresByStatus = new Map<number, ZodOpenApiResponseObject>();

const cachedFields = {
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

const paths: ZodOpenApiPathsObject = {
  ...viewPaths(failuresAlone),
  "/api/trending": {
    get: {
      operationId: "listTrending",
      summary: "One page of the videos that trend in a market",
      description:
        "Ranks by the views expected in the window ahead. All pages that `next` links belong to one generation, even after a newer one is published.",
      requestParams: { query: describedTrendingQuery(), header: conditions() },
      responses: {
        ...success("The requested page", TrendingPage, {
          example: trendingPageExample,
          headers: z.object({
            ...cachedFields,
            Link: z.string().optional().meta({ description: 'The next page: rel="next" (RFC 8288)' }),
          }),
        }),
        ...failures("invalid-parameter", "not-found", "generation-gone"),
      },
    },
  },
  "/api/videos/{id}": {
    get: {
      operationId: "readVideo",
      summary: "One video, where it trends and how its views grew",
      requestParams: {
        path: z.object({
          id: z
            .string()
            .regex(videoIdPattern)
            .meta({ examples: [exampleVideoId] }),
        }),
        header: conditions(),
      },
      responses: {
        ...success("The requested video", Video, { example: videoExample }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/api/regions": {
    get: {
      operationId: "listRegions",
      summary: "The markets, how many videos each has and how fresh they are",
      requestParams: { header: conditions() },
      responses: {
        ...success("All markets and categories", RegionList, { example: regionListExample }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/openapi.json": {
    get: {
      operationId: "readDescription",
      summary: "This document",
      requestParams: { header: conditions() },
      responses: {
        ...success("The description of the API", z.looseObject({ openapi: z.string() }), {
          example: { openapi: "3.1.0" },
        }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/.well-known/jwks.json": {
    get: {
      operationId: "listPublicKeys",
      summary: "The public keys that verify Signature",
      requestParams: { header: conditions() },
      responses: {
        ...success("The keys, the one that signs now first", PublicKeys, {
          contentType: "application/jwk-set+json",
          example: publicKeysExample,
        }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/problems/{kind}": {
    get: {
      operationId: "explainProblem",
      summary: "What a problem type means and what to do about it",
      description: "The `type` of a problem document is the address of its page.",
      requestParams: {
        path: z.object({ kind: z.enum(problemKinds).meta({ examples: ["not-found"] }) }),
        header: conditions(),
      },
      responses: {
        ...success(
          "The page of the problem type; the edge gives it without validators and signature",
          z.string(),
          {
            headers: z.object(cachedFields).partial(),
            contentType: "text/html",
            example: renderProblemPage("not-found"),
          },
        ),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/healthz": {
    get: {
      operationId: "checkHealth",
      summary: "Whether to send requests to this process",
      responses: {
        "200": { description: "Healthy", content: { "text/plain": { schema: z.string(), example: "ok\n" } } },
        "503": {
          description: "The process is stopping",
          content: { "text/plain": { schema: z.string(), example: "stopping\n" } },
        },
      },
    },
  },
};

function conditions() {
  return z.object({
    "If-None-Match": z.string().optional().meta({
      description: "The ETag of a stored response; 304 if it is still current",
    }),
  });
}

type Success = { example: unknown; contentType?: string; headers?: z.ZodObject };

function success(
  description: string,
  schema: z.ZodType,
  { example, contentType = "application/json", headers = z.object(cachedFields) }: Success,
): Record<string, ZodOpenApiResponseObject> {
  return {
    "200": {
      description,
      headers,
      content: { [contentType]: { schema, example } },
    },
    "304": {
      description: "The stored answer with this ETag is current",
      headers: z.object({ ETag: strongTag }),
    },
  };
}

function failures(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
  return failuresAlone(...kinds, ...commonProblems);
}

function failuresAlone(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
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
