import { matchesEntityTag } from "./if-none-match.ts";

/** One representation, ready to be sent any number of times. */
export type Prepared = { etag: string; ok: Response; notModified: Response; bytes: number };

/** Builds both answers of a representation. The body is a Blob: bytes would be copied for every connection. */
export function prepare(body: string, headers: Record<string, string>): Prepared {
  const bytes = new TextEncoder().encode(body);
  const etag = `"${new Bun.CryptoHasher("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  const { "content-type": _, ...validators } = headers;
  return {
    etag,
    ok: new Response(new Blob([bytes]), { headers: { ...headers, etag } }),
    notModified: new Response(null, { status: 304, headers: { ...validators, etag } }),
    bytes: bytes.length,
  };
}

/** A Response is used up by sending it, so that each request gets a clone. */
export function choose(prepared: Prepared, ifNoneMatch: string | null): Response {
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, prepared.etag))
    return prepared.notModified.clone() as Response;
  return prepared.ok.clone() as Response;
}
