import { longestBody, traceparentHeader } from "@trendvault/contract/http";
import { type EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";

/** A response of the origin, whole; nothing in it has been validated. */
export type OriginResponse = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

export type OriginError = "timed-out" | "unreachable" | "too-large";

/** `timeoutSeconds` is for everything together: both tries and the body. `traceparent`: see contract/http.ts. */
export type OriginOptions = { url: URL; signer: EdgeSigner; timeoutSeconds: number; traceparent: string };

/** With these statuses Cloudflare tells a Worker that it had no connection to the origin. */
const connectionErrorStatuses = new Set([521, 522, 523, 525, 526, 530]);

/** Requests a canonical path and query from the origin, signed. A connection that fails is tried once more. */
export async function fetchFromOrigin(
  target: string,
  options: OriginOptions,
): Promise<OriginResponse | OriginError> {
  const signal = AbortSignal.timeout(options.timeoutSeconds * 1000);
  const first = await tryOnce(target, options, signal);
  return first === "unreachable" ? tryOnce(target, options, signal) : first;
}

async function tryOnce(
  target: string,
  { url, signer, traceparent }: OriginOptions,
  signal: AbortSignal,
): Promise<OriginResponse | OriginError> {
  const signature = await signer.sign(Date.now() / 1000);
  const request = new Request(new URL(target, url).href, {
    headers: {
      accept: "application/json",
      "accept-encoding": "identity",
      [edgeSignatureHeader]: signature,
      [traceparentHeader]: traceparent,
    },
    redirect: "manual",
    cache: "no-store", // one cache decides about freshness: ours
    signal,
  });
  try {
    const response = await fetch(request);
    if (connectionErrorStatuses.has(response.status)) return "unreachable";
    const body = await readBody(response);
    return body === null ? "too-large" : { status: response.status, headers: response.headers, body };
  } catch {
    return signal.aborted ? "timed-out" : "unreachable"; // fetch and reading its body fail for no other reason
  }
}

/** The body, or null when there is more of it than any answer has; the rest is not read. */
async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    length += chunk.length;
    if (length > longestBody) return null; // leaving the loop cancels the body
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
