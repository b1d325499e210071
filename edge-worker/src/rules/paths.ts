import { feedAt } from "@trendvault/contract/feed-query";
import {
  aboutPath,
  docsPath,
  isAssetPath,
  openapiPath,
  pagePath,
  publicKeysPath,
  regionsPath,
  serviceWorkerPath,
  trendingPath,
  videoIdAt,
  videoPath,
} from "@trendvault/contract/paths";
import { problemKinds, problemType } from "@trendvault/contract/problem";

const documents = new Set<string>([
  pagePath,
  trendingPath,
  regionsPath,
  openapiPath,
  publicKeysPath,
  aboutPath,
  docsPath,
  serviceWorkerPath,
  ...problemKinds.map(problemType),
]);

/** The canonical path of what the origin serves at a path, or null when it serves nothing there. */
export function canonicalPath(pathname: string): string | null {
  if (documents.has(pathname) || isAssetPath(pathname) || feedAt(pathname) !== null) return pathname;
  const id = videoIdAt(pathname);
  return id === null ? null : videoPath(id);
}
