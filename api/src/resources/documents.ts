import type { PublicKeySet } from "@trendvault/contract/keys";
import { pageFields } from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import { problemKinds, problemType, renderProblemPage } from "@trendvault/contract/problem";
import type { RegionTable } from "@trendvault/contract/regions";
import { type Body, fixedContent, jsonBody, type Resource, type RouteName, textBody } from "./resource.ts";

/** What does not depend on the data, by path: the description of the API, the public keys, the problems' pages. */
type Documents = ReadonlyMap<string, Resource>;

/** `regions`: those of the settings, or null. */
export function createDocuments(publicKeys: PublicKeySet, regions: RegionTable | null): Documents {
  const pages = problemKinds.map((kind) => {
    const url = problemType(kind);
    const fields = pageFields({ policy: "default-src 'none'" }, url); // it has neither style nor script
    const page = () => ({ ...textBody(renderProblemPage(kind), "text/html; charset=utf-8"), fields });
    return document(url, "problem", page);
  });
  const openapi = document(paths.openapi, "openapi", () => jsonBody(openapiOf(regions)));
  const keys = JSON.stringify(publicKeys);
  const jwks = document(paths.publicKeys, "jwks", () => textBody(keys, "application/jwk-set+json"));
  return new Map([openapi, jwks, ...pages].map((resource) => [resource.url, resource]));
}

function document(url: string, route: RouteName, body: () => Body): Resource {
  return { url, route, read: () => fixedContent(body()) };
}

/** The description of the API, as committed or with other regions. Loaded with the first request for it: it is long. */
function openapiOf(regions: RegionTable | null): string {
  const { describeApi } = require("./openapi.ts") as typeof import("./openapi.ts");
  return describeApi(regions);
}
