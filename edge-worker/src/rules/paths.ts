import {
  aboutApiPath,
  aboutPath,
  docsPath,
  explainedIdAt,
  explanationPath,
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
import { exportedRegionAt, feedAt } from "@trendvault/contract/queries";

const documents = new Set<string>([
  pagePath,
  trendingPath,
  regionsPath,
  openapiPath,
  publicKeysPath,
  aboutApiPath,
  aboutPath,
  docsPath,
  serviceWorkerPath,
  ...problemKinds.map(problemType),
]);

/** The canonical path of what the origin serves at a path, or null when it serves nothing there. */
export function canonicalPath(pathname: string): string | null {
  if (documents.has(pathname) || isAssetPath(pathname)) return pathname;
  if (feedAt(pathname) !== null || exportedRegionAt(pathname) !== null) return pathname;
  const explained = explainedIdAt(pathname);
  if (explained !== null) return explanationPath(explained);
  const id = videoIdAt(pathname);
  return id === null ? null : videoPath(id);
}
