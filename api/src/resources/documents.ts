import type { PublicKeySet } from "@trendvault/contract/keys";
import { paths } from "@trendvault/contract/paths";
import { problemKinds, problemType, renderProblemPage } from "@trendvault/contract/problem";
import type { RegionTable } from "@trendvault/contract/regions";
import { fixedContent, type Resource, type RouteName, textBody } from "./resource.ts";

/** What does not depend on the data, by path: the description of the API, the public keys, the problems' pages. */
type Documents = ReadonlyMap<string, Resource>;

/** `regions`: those of the settings, or null. */
export function createDocuments(publicKeys: PublicKeySet, regions: RegionTable | null): Documents {
  const pages = problemKinds.map((kind) =>
    document(problemType(kind), "problem", "text/html; charset=utf-8", () => renderProblemPage(kind)),
  );
  const openapi = document(paths.openapi, "openapi", "application/json", () => openapiOf(regions));
  const jwks = document(paths.publicKeys, "jwks", "application/jwk-set+json", () =>
    JSON.stringify(publicKeys),
  );
  return new Map([openapi, jwks, ...pages].map((resource) => [resource.url, resource]));
}

function document(url: string, route: RouteName, contentType: string, text: () => string): Resource {
  return { url, route, read: () => fixedContent(textBody(text(), contentType)) };
}

/** The description of the API, as committed or with other regions. Loaded with the first request for it: it is long. */
function openapiOf(regions: RegionTable | null): string {
  const { describeApi } = require("./openapi.ts") as typeof import("./openapi.ts");
  return describeApi(regions);
}
