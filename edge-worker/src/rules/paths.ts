import { isVideoId } from "@trendvault/contract/video-id";

export const trendingPath = "/api/trending";

/** The documents that the origin serves besides the lists, each with the member that only it has. */
const documents = new Map([
  ["/api/regions", "regions"],
  ["/openapi.json", "openapi"],
  ["/.well-known/jwks.json", "keys"],
]);
const videoPrefix = "/api/videos/";

/** Whether the origin serves something at a path. */
export function isServed(pathname: string): boolean {
  return pathname === trendingPath || documents.has(pathname) || videoIdOf(pathname) !== null;
}

/** Whether a body is the document that a path names: a signature does not say what was requested. */
export function isDocumentAt(pathname: string, body: Record<string, unknown>): boolean {
  const member = documents.get(pathname);
  return member === undefined ? body.id === videoIdOf(pathname) : member in body;
}

function videoIdOf(pathname: string): string | null {
  const id = pathname.startsWith(videoPrefix) ? pathname.slice(videoPrefix.length) : "";
  return isVideoId(id) ? id : null;
}
