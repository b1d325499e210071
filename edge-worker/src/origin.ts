import { edgeSignatureHeader, signEdgeRequest } from "@trendvault/contract/edge-signature";
import type { KeyRing } from "@trendvault/contract/key-ring";

/** What the origin said, whole; nothing in it has been checked. */
export type OriginAnswer = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

export type NoAnswer = "timed-out" | "unreachable";

export type OriginSettings = { url: URL; edgeKeys: KeyRing; deadlineSeconds: number };

/** How Cloudflare tells a Worker that it had no connection to the origin. */
const connectionFailed = new Set([521, 522, 523, 525, 526, 530]);

/**
 * Asks the origin for a canonical path and query, signed. A connection that fails is tried once more; the deadline
 * is for everything together, the body included.
 */
export async function askOrigin(target: string, settings: OriginSettings): Promise<OriginAnswer | NoAnswer> {
  const signal = AbortSignal.timeout(settings.deadlineSeconds * 1000);
  const first = await tryOnce(target, settings, signal);
  return first === "unreachable" ? tryOnce(target, settings, signal) : first;
}

async function tryOnce(
  target: string,
  { url, edgeKeys }: OriginSettings,
  signal: AbortSignal,
): Promise<OriginAnswer | NoAnswer> {
  const seconds = Math.floor(Date.now() / 1000);
  const signature = await signEdgeRequest({ method: "GET", target }, { ring: edgeKeys, seconds });
  const request = new Request(new URL(target, url).href, {
    headers: { accept: "application/json", "accept-encoding": "identity", [edgeSignatureHeader]: signature },
    redirect: "manual",
    cache: "no-store", // one cache decides about freshness: ours
    signal,
  });
  try {
    const response = await fetch(request);
    if (connectionFailed.has(response.status)) return "unreachable";
    return {
      status: response.status,
      headers: response.headers,
      body: new Uint8Array(await response.arrayBuffer()),
    };
  } catch {
    return signal.aborted ? "timed-out" : "unreachable"; // fetch and reading its body fail for no other reason
  }
}
