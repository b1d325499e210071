import { edgeSignatureHeader, signEdgeRequest } from "@trendvault/contract/edge-signature";
import type { KeyRing } from "@trendvault/contract/key-ring";

/** A response of the origin, whole; nothing in it has been validated. */
export type OriginResponse = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

export type OriginError = "timed-out" | "unreachable";

/** `timeoutSeconds` is for everything together: both tries and the body. */
export type OriginOptions = { url: URL; edgeKeys: KeyRing; timeoutSeconds: number };

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
  { url, edgeKeys }: OriginOptions,
  signal: AbortSignal,
): Promise<OriginResponse | OriginError> {
  const seconds = Math.floor(Date.now() / 1000);
  const address = new URL(target, url);
  const signed = { method: "GET", target: address.pathname + address.search }; // as it is sent
  const signature = await signEdgeRequest(signed, { ring: edgeKeys, seconds });
  const request = new Request(address.href, {
    headers: { accept: "application/json", "accept-encoding": "identity", [edgeSignatureHeader]: signature },
    redirect: "manual",
    cache: "no-store", // one cache decides about freshness: ours
    signal,
  });
  try {
    const response = await fetch(request);
    if (connectionErrorStatuses.has(response.status)) return "unreachable";
    return {
      status: response.status,
      headers: response.headers,
      body: new Uint8Array(await response.arrayBuffer()),
    };
  } catch {
    return signal.aborted ? "timed-out" : "unreachable"; // fetch and reading its body fail for no other reason
  }
}
