import {
  openapiPath,
  publicKeysPath,
  regionsPath,
  trendingPath,
  videoIdAt,
  videoPath,
} from "@trendvault/contract/paths";

const documents = new Set([regionsPath, openapiPath, publicKeysPath]);

/** The canonical path of what the origin serves at a path, or null when it serves nothing there. */
export function canonicalPath(pathname: string): string | null {
  if (pathname === trendingPath || documents.has(pathname)) return pathname;
  const id = videoIdAt(pathname);
  return id === null ? null : videoPath(id);
}
