import {
  type EdgeVerdict,
  edgePayload,
  edgeSignatureHeader,
  readEdgeSignature,
  validateEdgeSignature,
} from "@trendvault/contract/edge-signature";
import type { KeyRing } from "@trendvault/contract/key-ring";
import { splitTarget } from "./request-target.ts";

export type EdgeGuard = (request: Request) => EdgeVerdict;

/** Verifies the edge's signature with any key of the ring. `now` gives Unix time in milliseconds. */
export function edgeGuard(ring: KeyRing, now: () => number): EdgeGuard {
  const keyed = new Map([...ring].map(([kid, key]) => [kid, new Bun.CryptoHasher("sha256", key)]));
  return (request) => {
    const header = request.headers.get(edgeSignatureHeader);
    if (header === null) return "missing";
    const signature = readEdgeSignature(header);
    if (signature === null) return "malformed";
    const hasher = keyed.get(signature.kid);
    if (hasher === undefined) return "unknown-key";
    const { path, search } = splitTarget(request.url);
    const target = search === "" ? path : `${path}?${search}`;
    const payload = edgePayload({ method: request.method, target }, signature);
    const hmac = hasher.copy().update(payload).digest("base64url");
    return validateEdgeSignature(signature, { hmac, seconds: Math.floor(now() / 1000) });
  };
}
