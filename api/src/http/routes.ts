import { explainedIdAt, paths, videoIdAt } from "@trendvault/contract/paths";
import { exportedRegionAt, feedAt } from "@trendvault/contract/queries";
import { aboutResource, regionsResource } from "../resources/about.ts";
import { explanationResource } from "../resources/explanation.ts";
import { exportResource } from "../resources/export.ts";
import { feedResource, type HtmlSources, pagesOf } from "../resources/pages.ts";
import { type Refusal, type Resource, type RouteName, withoutParameters } from "../resources/resource.ts";
import { trendingResource } from "../resources/trending.ts";
import { videoResource } from "../resources/video.ts";

type Target = { path: string; search: string };

/** Splits the target of a request into path and query. */
export function splitTarget(target: string): Target {
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, search: "" }
    : { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

/** What the resources are made from. */
type ResourceSources = HtmlSources & { documents: ReadonlyMap<string, Resource> };

/** `resolve` gives the resource that a query string (without its "?") names, or why there is none. */
type Route = { name: RouteName; resolve: (search: string) => Resource | Refusal };

/** The route of a path, or null. */
export type FindRoute = (path: string) => Route | null;

export function createRoutes({ documents, ...sources }: ResourceSources): FindRoute {
  const fixedRoutes = new Map<string, Route>([
    [paths.trending, { name: "trending", resolve: (search) => trendingResource(search, sources) }],
    [paths.regions, { name: "regions", resolve: withoutParameters(() => regionsResource(sources.lists)) }],
    [paths.about, { name: "about", resolve: withoutParameters(() => aboutResource(sources)) }],
    ...[...pagesOf(sources)].map(([path, resolve]): [string, Route] => [path, { name: "page", resolve }]),
    ...[...documents].map(([path, document]): [string, Route] => [
      path,
      { name: document.route, resolve: withoutParameters(() => document) },
    ]),
  ]);
  return (path) =>
    fixedRoutes.get(path) ??
    findVideo(path, sources) ??
    findExplanation(path, sources) ??
    findFeed(path, sources) ??
    findExport(path, sources) ??
    findAsset(path, sources);
}

function findVideo(path: string, { lists, linkOf }: HtmlSources): Route | null {
  const id = videoIdAt(path);
  if (id === null) return null;
  return { name: "video", resolve: withoutParameters(() => videoResource(id, { reader: lists, linkOf })) };
}

function findFeed(path: string, sources: HtmlSources): Route | null {
  const feed = feedAt(path);
  if (feed === null) return null;
  return { name: "feed", resolve: (search) => feedResource(feed, search, sources) };
}

function findExport(path: string, sources: HtmlSources): Route | null {
  const region = exportedRegionAt(path);
  if (region === null) return null;
  return { name: "export", resolve: (search) => exportResource(region, search, sources) };
}

function findExplanation(path: string, { lists }: HtmlSources): Route | null {
  const id = explainedIdAt(path);
  if (id === null) return null;
  return { name: "explanation", resolve: (search) => explanationResource(id, search, lists) };
}

function findAsset(path: string, { assets }: HtmlSources): Route | null {
  const asset = assets.resourceAt(path);
  return asset === null ? null : { name: "asset", resolve: withoutParameters(() => asset) };
}
