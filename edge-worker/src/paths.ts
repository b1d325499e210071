export const listPath = "/api/trending";

const documents = new Set(["/api/regions", "/openapi.json", "/.well-known/jwks.json"]);
const video = /^\/api\/videos\/[A-Za-z0-9_-][A-Za-z0-9_.~:-]{0,63}$/; // ids as the writer accepts them

/** Whether there is something at a path: the lists, and what the origin serves to everybody besides. */
export function isServed(pathname: string): boolean {
  return pathname === listPath || documents.has(pathname) || video.test(pathname);
}
