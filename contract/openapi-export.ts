import * as z from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { exportExample } from "./examples-of-export.ts";
import { exportType } from "./export-query.ts";
import { conditions, failures, success } from "./openapi-responses.ts";
import { regionCodes } from "./regions.ts";
import { window } from "./responses.ts";

const line = {
  oneOf: ["ExportHead", "ExportItem"].map((name) => ({ $ref: `#/components/schemas/${name}` })),
};
const Lines = z.string().meta({
  description: "A JSON object a line: an `ExportHead`, then an `ExportItem` for each rank",
  contentMediaType: exportType,
  contentSchema: line, // of each: no keyword of JSON Schema says "a line"
});

/** The path of exports: whole rankings, for other programs. */
export const exportPaths: ZodOpenApiPathsObject = {
  "/api/export/{region}.ndjson": {
    get: {
      operationId: "exportRanking",
      summary: "The whole ranking of a market, a JSON object a line",
      description:
        "Every rank of the newest generation's lists over all categories, of all three windows or of one. The first line is an `ExportHead`, which says how many follow; each of those is an `ExportItem`, as in /api/trending and with its window.",
      requestParams: {
        path: z.object({ region: z.enum(regionCodes).meta({ examples: ["GB"] }) }),
        query: z.object({
          window: window.optional().meta({ description: "Only this list; without it, all three" }),
        }),
        header: conditions(),
      },
      responses: {
        ...success("The ranking", Lines, { contentType: exportType, example: exportExample }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
};
