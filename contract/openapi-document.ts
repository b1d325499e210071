import { type CreateDocumentOptions, createDocument, type ZodOpenApiPathsObject } from "zod-openapi";
import { ExportHead, ExportItem } from "./export-lines.ts";
import { exportPaths } from "./openapi-export.ts";
import { feedPaths } from "./openapi-feeds.ts";
import { listPaths } from "./openapi-lists.ts";
import { servicePaths } from "./openapi-service.ts";
import { viewPaths } from "./openapi-views.ts";

/** A group of paths in the description. Every operation has the tag of its group. */
type Group = { tag: string; description: string; paths: ZodOpenApiPathsObject };

const groups: Group[] = [
  { tag: "Lists", description: "What trends: lists, videos, regions", paths: listPaths },
  { tag: "Exports", description: "Whole rankings, for other programs", paths: exportPaths },
  { tag: "Feeds", description: "Lists for feed readers", paths: feedPaths },
  {
    tag: "Views",
    description: "What visitors' browsers tell, and what the writer pulls of it; answered by the edge only",
    paths: viewPaths,
  },
  {
    tag: "Service",
    description: "The service itself: its description, keys, errors, health",
    paths: servicePaths,
  },
];

/**
 * The OpenAPI 3.1 description of the API, made from the schemas. openapi.json is its text. Answers may get further
 * fields (docs/stability.md); `closed` allows none, for tests that look for fields that are not described.
 */
export function createOpenapiDocument({ closed = false } = {}) {
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "TrendVault",
        version: "1",
        description:
          "The videos that trend in each market. Every client gets the same response; it is signed and may be cached.",
        contact: { name: "The operator of the host that serves this document" },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The host that serves this document" }],
      security: [],
      tags: groups.map(({ tag, description }) => ({ name: tag, description })),
      paths: Object.assign({}, ...groups.map(tagged)),
      components: { schemas: { ExportHead, ExportItem } }, // of lines, which no media type of OpenAPI 3.1 has
    },
    { override: (context) => adjust(context, closed) },
  );
}

function tagged({ tag, paths }: Group): ZodOpenApiPathsObject {
  const tagOperation = (operation: object) => ({ tags: [tag], ...operation });
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, tagOperation(operation)]),
      ),
    ]),
  );
}

type Override = NonNullable<CreateDocumentOptions["override"]>;

function adjust({ jsonSchema, io }: Parameters<Override>[0], closed: boolean): void {
  if (io === "output" && !closed) delete jsonSchema.additionalProperties;
  // What `false` says, maxItems says as well; some tools take it for a missing `items`.
  if (jsonSchema.items === false) jsonSchema.items = {};
}
