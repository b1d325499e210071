import { refusalDetails } from "@trendvault/contract/http-rules";
import type { ListReader } from "../database/list-reader.ts";
import type { Documents } from "../resources/documents.ts";
import { Refusal } from "../resources/refusal.ts";
import { regionsResource } from "../resources/regions-resource.ts";
import type { Resource, RouteName } from "../resources/resource.ts";
import { trendingResource } from "../resources/trending-resource.ts";
import { videoResource } from "../resources/video-resource.ts";
import type { SignToken } from "../signing/token-signer.ts";
import type { Target } from "./request-target.ts";

/** What the resources are made from. */
export type ResourceSources = { lists: ListReader; signToken: SignToken; documents: Documents };

/** `resolve` gives the resource that a request target names, or why there is none. */
type Route = { name: RouteName; resolve: (target: Target) => Resource | Refusal };

/** The route of a path, or null. */
export type FindRoute = (path: string) => Route | null;

const videoPrefix = "/api/videos/";
const problemPrefix = "/problems/";

export function createRoutes(sources: ResourceSources): FindRoute {
  const { lists, documents } = sources;
  const findDocument = withoutParameters(
    ({ path }) => documents.get(path) ?? new Refusal("not-found", refusalDetails["not-found"]),
  );
  const findVideo = withoutParameters(({ path }) => videoResource(path.slice(videoPrefix.length), lists));
  const fixedRoutes = new Map<string, Route>([
    ["/api/trending", { name: "trending", resolve: ({ search }) => trendingResource(search, sources) }],
    ["/api/regions", { name: "regions", resolve: withoutParameters(() => regionsResource(lists)) }],
    ["/openapi.json", { name: "openapi", resolve: findDocument }],
    ["/.well-known/jwks.json", { name: "jwks", resolve: findDocument }],
  ]);
  return (path) => {
    if (path.startsWith(videoPrefix)) return { name: "video", resolve: findVideo };
    if (path.startsWith(problemPrefix)) return { name: "problem", resolve: findDocument };
    return fixedRoutes.get(path) ?? null;
  };
}

function withoutParameters(resolve: Route["resolve"]): Route["resolve"] {
  return (target) => (target.search === "" ? resolve(target) : unexpectedParameter);
}

const unexpectedParameter = new Refusal("invalid-parameter", "(unknown): expected no parameters", {
  invalid: [{ name: "(unknown)", detail: "expected no parameters" }],
});
