export const listPath = "/api/trending";

/** What the origin serves to everybody besides the lists, each with the field that only it has. */
const documents = new Map([
  ["/api/regions", "regions"],
  ["/openapi.json", "openapi"],
  ["/.well-known/jwks.json", "keys"],
]);
const video = /^\/api\/videos\/([A-Za-z0-9_-][A-Za-z0-9_.~:-]{0,63})$/; // ids as the writer accepts them

/** Whether there is something at a path. */
export function isServed(pathname: string): boolean {
  return pathname === listPath || documents.has(pathname) || video.test(pathname);
}

/** Whether a body is the document that a path names: a signature does not say what was asked for. */
export function isDocumentAt(pathname: string, body: Record<string, unknown>): boolean {
  const field = documents.get(pathname);
  return field === undefined ? body.id === video.exec(pathname)?.[1] : field in body;
}
