import * as z from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { publicKeysExample } from "./examples.ts";
import { cachedFields, conditions, failures, failuresAlone, success } from "./openapi-responses.ts";
import { problemKinds } from "./problem.ts";
import { renderProblemPage } from "./problem-page.ts";
import { PublicKeys } from "./responses.ts";

/** The paths about the service itself: its description, keys, problem pages, health. */
export const servicePaths: ZodOpenApiPathsObject = {
  "/openapi.json": {
    get: {
      operationId: "readDescription",
      summary: "This document",
      description: "The OpenAPI description of the API, the same for every request.",
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
      description: "Keys that signed what caches may still have stay in it. `purpose` says what a key signs.",
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
      description: "For load balancers in front of an origin. The edge has no such path.",
      responses: {
        "200": { description: "Healthy", content: { "text/plain": { schema: z.string(), example: "ok\n" } } },
        ...failuresAlone("not-found"),
        "503": {
          description: "The process is stopping",
          content: { "text/plain": { schema: z.string(), example: "stopping\n" } },
        },
      },
    },
  },
};
