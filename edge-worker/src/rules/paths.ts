import { isVideoId } from "@trendvault/contract/video-id";

export const trendingPath = "/api/trending";
export const regionsPath = "/api/regions";

/** The documents that the origin serves besides lists and videos. */
const documents = [regionsPath, "/openapi.json", "/.well-known/jwks.json"];
const videoPrefix = "/api/videos/";

/** Whether the origin serves something at a path. */
export function isServed(pathname: string): boolean {
  return pathname === trendingPath || documents.includes(pathname) || isVideoPath(pathname);
}

/** Whether a path names a video. */
export function isVideoPath(pathname: string): boolean {
  return pathname.startsWith(videoPrefix) && isVideoId(pathname.slice(videoPrefix.length));
}
