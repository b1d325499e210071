import { refusalDetails } from "@trendvault/contract/http-rules";
import { regionsResource } from "../answers/regions-resource.ts";
import type { Resource, RouteName } from "../answers/resource.ts";
import { trendingResource } from "../answers/trending-resource.ts";
import { videoResource } from "../answers/video-resource.ts";
import type { State } from "../serving/state.ts";
import { Refusal } from "./refusal.ts";
import type { Target } from "./request-target.ts";

export type Found = { route: RouteName; find: (target: Target, state: State) => Resource | Refusal };

const videoPrefix = "/api/videos/";
const problemPrefix = "/problems/";

/** What a path leads to, or null. */
export function findRoute(path: string): Found | null {
  if (path.startsWith(videoPrefix)) return { route: "video", find: findVideo };
  if (path.startsWith(problemPrefix)) return { route: "problem", find: findDocument };
  return fixedRoutes.get(path) ?? null;
}

const fixedRoutes = new Map<string, Found>([
  ["/api/trending", { route: "trending", find: ({ search }, state) => trendingResource(search, state) }],
  ["/api/regions", { route: "regions", find: withoutParameters(({ lists }) => regionsResource(lists)) }],
  ["/openapi.json", { route: "openapi", find: findDocument }],
  ["/.well-known/jwks.json", { route: "jwks", find: findDocument }],
]);

function findVideo(target: Target, state: State): Resource | Refusal {
  return withoutParameters(() => videoResource(target.path.slice(videoPrefix.length), state.lists))(
    target,
    state,
  );
}

function findDocument(target: Target, state: State): Resource | Refusal {
  const document = state.documents.get(target.path) ?? new Refusal("not-found", refusalDetails["not-found"]);
  return withoutParameters(() => document)(target, state);
}

function withoutParameters(find: (state: State) => Resource | Refusal): Found["find"] {
  return ({ search }, state) =>
    search === "" ? find(state) : new Refusal("invalid-parameter", detail, { invalid });
}

const detail = "(unknown): expected no parameters";
const invalid = [{ name: "(unknown)", detail: "expected no parameters" }];
