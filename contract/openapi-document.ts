import { createDocument } from "zod-openapi";
import { listPaths } from "./openapi-lists.ts";
import { servicePaths } from "./openapi-service.ts";
import { viewPaths } from "./openapi-views.ts";

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
    paths: { ...viewPaths, ...listPaths, ...servicePaths },
  });
}
