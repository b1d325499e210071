import { unexpectedParameter } from "@trendvault/contract/http-rules";
import { regionsPath, trendingPath, videoIdAt } from "@trendvault/contract/paths";
import type { ListReader } from "../database/list-reader.ts";
import type { Documents } from "../resources/documents.ts";
import { Refusal } from "../resources/refusal.ts";
import { regionsResource } from "../resources/regions-resource.ts";
import type { Resource, RouteName } from "../resources/resource.ts";
import { trendingResource } from "../resources/trending-resource.ts";
import { videoResource } from "../resources/video-resource.ts";
import type { Target } from "./request-target.ts";

/** What the resources are made from. */
export type ResourceSources = { lists: ListReader; documents: Documents };

/** `resolve` gives the resource that a request target names, or why there is none. */
type Route = { name: RouteName; resolve: (target: Target) => Resource | Refusal };

/** The route of a path, or null. */
export type FindRoute = (path: string) => Route | null;

export function createRoutes({ lists, documents }: ResourceSources): FindRoute {
  const fixedRoutes = new Map<string, Route>([
    [trendingPath, { name: "trending", resolve: ({ search }) => trendingResource(search, lists) }],
    [regionsPath, { name: "regions", resolve: withoutParameters(() => regionsResource(lists)) }],
    ...[...documents].map(([path, document]): [string, Route] => [
      path,
      { name: document.route, resolve: withoutParameters(() => document) },
    ]),
  ]);
  return (path) => fixedRoutes.get(path) ?? findVideo(path, lists);
}

function findVideo(path: string, lists: ListReader): Route | null {
  const id = videoIdAt(path);
  return id === null ? null : { name: "video", resolve: withoutParameters(() => videoResource(id, lists)) };
}

function withoutParameters(resolve: Route["resolve"]): Route["resolve"] {
  return (target) => (target.search === "" ? resolve(target) : noParameters);
}

const { name, detail } = unexpectedParameter;
const noParameters = new Refusal("invalid-parameter", `${name}: ${detail}`, {
  invalid: [unexpectedParameter],
});
