import openapi from "@trendvault/contract/openapi.json" with { type: "text" };

export { rewriteRegions } from "./rewrite-regions.ts";

/** The description of the API, as committed: 165 KB. */
export const openapiText = openapi as unknown as string;
