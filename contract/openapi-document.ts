import * as z from "zod";
import { createDocument, type ZodOpenApiPathsObject, type ZodOpenApiResponseObject } from "zod-openapi";
import { type ProblemKind, problemContentType, problemKinds, problems } from "./problem.ts";
import { ProblemDocument, PublicKeys, RegionList, TrendingPage, Video } from "./responses.ts";
import { TrendingQuery } from "./trending-query.ts";
import { videoIdPattern } from "./video-id.ts";

/** The OpenAPI 3.1 description of the origin, made from the schemas. openapi.json is this, written down. */
export function createOpenapiDocument() {
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "TrendVault",
      version: "1",
      description:
        "What each market is watching right now. Answers are the same for everybody, signed, and safe to cache.",
      license: { name: "MIT", identifier: "MIT" },
    },
    paths,
  });
}

const exampleVideo = "demo-video_1";
const strongTag = z.string().meta({ description: "Strong, one per content coding (RFC 9110)" });

const prepared = {
  ETag: strongTag,
  "Cache-Control": z.string(),
  "CDN-Cache-Control": z.string().meta({ description: "For shared caches (RFC 9213)" }),
  Vary: z.string(),
  "Unencoded-Digest": z.string().meta({
    description: "SHA-256 of the body before content coding (draft-ietf-httpbis-unencoded-digest)",
  }),
  "Signature-Input": z.string().meta({ description: "RFC 9421; the keys are at /.well-known/jwks.json" }),
  Signature: z.string(),
};

// Every path may also be refused for these.
const everywhere: ProblemKind[] = [
  "edge-signature",
  "not-acceptable",
  "uri-too-long",
  "too-many-requests",
  "internal",
  "not-ready",
];

const paths: ZodOpenApiPathsObject = {
  "/api/trending": {
    get: {
      operationId: "listTrending",
      summary: "A page of what a market is watching",
      description: "Pages are pinned: `next` stays in the generation of the first page.",
      requestParams: { query: TrendingQuery, header: conditions() },
      responses: {
        ...success(TrendingPage, {
          Link: z.string().optional().meta({ description: 'rel="next" (RFC 8288)' }),
        }),
        ...failures("invalid-parameter", "generation-gone"),
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
            .meta({ examples: [exampleVideo] }),
        }),
        header: conditions(),
      },
      responses: { ...success(Video), ...failures("invalid-parameter", "not-found") },
    },
  },
  "/api/regions": {
    get: {
      operationId: "listRegions",
      summary: "The markets, how many videos each has and how fresh they are",
      requestParams: { header: conditions() },
      responses: { ...success(RegionList), ...failures("invalid-parameter") },
    },
  },
  "/openapi.json": {
    get: {
      operationId: "readDescription",
      summary: "This document",
      requestParams: { header: conditions() },
      responses: { ...success(z.looseObject({ openapi: z.string() })), ...failures("invalid-parameter") },
    },
  },
  "/.well-known/jwks.json": {
    get: {
      operationId: "listPublicKeys",
      summary: "The keys that verify Signature",
      requestParams: { header: conditions() },
      responses: {
        ...success(PublicKeys, {}, "application/jwk-set+json"),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/problems/{kind}": {
    get: {
      operationId: "explainProblem",
      summary: "What a problem type means and what to do about it",
      requestParams: { path: z.object({ kind: z.enum(problemKinds) }), header: conditions() },
      responses: {
        ...success(z.string(), {}, "text/html"),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/healthz": {
    get: {
      operationId: "checkHealth",
      summary: "The process answers",
      responses: { "200": { description: "It does", content: { "text/plain": { schema: z.string() } } } },
    },
  },
};

function conditions() {
  return z.object({
    "If-None-Match": z
      .string()
      .optional()
      .meta({ description: "An ETag from before: 304 when it still holds" }),
  });
}

function success(
  schema: z.ZodType,
  headers: Record<string, z.ZodType> = {},
  contentType = "application/json",
): Record<string, ZodOpenApiResponseObject> {
  return {
    "200": {
      description: "Here it is",
      headers: z.object({ ...prepared, ...headers }),
      content: { [contentType]: { schema } },
    },
    "304": { description: "What the client has still holds", headers: z.object({ ETag: strongTag }) },
  };
}

function failures(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(
    [...kinds, ...everywhere].map((kind) => [
      String(problems[kind].status),
      { description: problems[kind].title, content: { [problemContentType]: { schema: ProblemDocument } } },
    ]),
  );
}
