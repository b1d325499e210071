import type { Send } from "./retrying-send.ts";

type Kept = { etag: string; status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

/** What of a 304 replaces what was kept. Signed fields stay: the signature is the kept one, over the kept body. */
const refreshedFields = ["age", "cache-control", "cache-status", "date", "expires", "server-timing"];

/**
 * Keeps the answers of the last addresses with their ETag, and asks whether they have changed (RFC 9110, section
 * 13.1.2): a 304 becomes the kept answer. `capacity` is the number of addresses.
 */
export function conditionalSend(send: Send, capacity: number): Send {
  if (capacity === 0) return send;
  const kept = new Map<string, Kept>();
  return async (request) => {
    if (request.method !== "GET") return send(request);
    const known = kept.get(request.url);
    const response = await send(known === undefined ? request : ifChanged(request, known));
    if (response.status === 304 && known !== undefined) return renew(known, response.headers);
    kept.delete(request.url);
    const answer = await readAnswer(response);
    if (answer === null) return response;
    kept.set(request.url, answer);
    if (kept.size > capacity) kept.delete(kept.keys().next().value ?? "");
    return asResponse(answer);
  };
}

/** A success with an ETag, else null. */
async function readAnswer(response: Response): Promise<Kept | null> {
  const etag = response.headers.get("etag");
  if (!response.ok || etag === null) return null;
  const body = new Uint8Array(await response.arrayBuffer());
  return { etag, status: response.status, headers: new Headers(response.headers), body };
}

function ifChanged(request: Request, { etag }: Kept): Request {
  const conditional = new Request(request);
  conditional.headers.set("if-none-match", etag);
  return conditional;
}

function renew(known: Kept, headers: Headers): Response {
  for (const name of refreshedFields) {
    const value = headers.get(name);
    if (value !== null) known.headers.set(name, value);
  }
  return asResponse(known);
}

function asResponse({ status, headers, body }: Kept): Response {
  return new Response(body, { status, headers });
}
