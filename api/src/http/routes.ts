import { unexpectedParameter } from "@trendvault/contract/http-rules";
import { regionsPath, trendingPath, videoIdAt } from "@trendvault/contract/paths";
import type { ListReader } from "../database/list-reader.ts";
import type { Documents } from "../resources/documents.ts";
import { Refusal } from "../resources/refusal.ts";
import { regionsResource } from "../resources/regions-resource.ts";
import type { Resource, RouteName } from "../resources/resource.ts";
import { trendingResource } from "../resources/trending-resource.ts";
import type { VideoLinks } from "../resources/video-links.ts";
import { videoResource } from "../resources/video-resource.ts";
import type { Target } from "./request-target.ts";

/** What the resources are made from. */
export type ResourceSources = { lists: ListReader; documents: Documents; linkOf: VideoLinks };

/** `resolve` gives the resource that a request target names, or why there is none. */
type Route = { name: RouteName; resolve: (target: Target) => Resource | Refusal };

/** The route of a path, or null. */
export type FindRoute = (path: string) => Route | null;

export function createRoutes({ documents, ...sources }: ResourceSources): FindRoute {
  const fixedRoutes = new Map<string, Route>([
    [trendingPath, { name: "trending", resolve: ({ search }) => trendingResource(search, sources) }],
    [regionsPath, { name: "regions", resolve: withoutParameters(() => regionsResource(sources.lists)) }],
    ...[...documents].map(([path, document]): [string, Route] => [
      path,
      { name: document.route, resolve: withoutParameters(() => document) },
    ]),
  ]);
  return (path) => fixedRoutes.get(path) ?? findVideo(path, sources);
}

function findVideo(path: string, { lists, linkOf }: Omit<ResourceSources, "documents">): Route | null {
  const id = videoIdAt(path);
  if (id === null) return null;
  return { name: "video", resolve: withoutParameters(() => videoResource(id, { reader: lists, linkOf })) };
}

function withoutParameters(resolve: Route["resolve"]): Route["resolve"] {
  return (target) => (target.search === "" ? resolve(target) : noParameters);
}

const { name, detail } = unexpectedParameter;
const noParameters = new Refusal("invalid-parameter", `${name}: ${detail}`, {
  invalid: [unexpectedParameter],
});
