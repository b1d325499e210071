import { equalInConstantTime, hmacSha256 } from "./hmac.ts";
import { type KeyRing, signingKey } from "./key-ring.ts";

/**
 * How the edge proves to the origin that it sent a request:
 *
 *     x-edge-signature: v1.<kid>.<seconds>.<mac>
 *     mac = base64url(HMAC-SHA-256(key[kid], "v1\n<kid>\n<seconds>\n<METHOD>\n<path and query>"))
 *
 * seconds is Unix time and may differ by 60 from the origin's clock. Path and query are the bytes of the
 * request line, unchanged.
 */
export const edgeSignatureHeader = "x-edge-signature";

export type EdgeRequest = { method: string; target: string };

export type EdgeVerdict = "valid" | "missing" | "malformed" | "unknown-key" | "tampered" | "outside-window";

/** A well-formed header taken apart. */
export type EdgeSignature = { kid: string; seconds: number; mac: string };

const allowedSkewSeconds = 60;
const signaturePattern = /^v1\.([A-Za-z0-9]{1,16})\.([1-9][0-9]{0,11})\.([A-Za-z0-9_-]{43})$/;

/** Takes a header value apart, or null when it is malformed. The mac is not verified. */
export function readEdgeSignature(header: string): EdgeSignature | null {
  const match = signaturePattern.exec(header);
  if (match === null) return null;
  const [, kid = "", seconds = "", mac = ""] = match;
  return { kid, seconds: Number(seconds), mac };
}

/** The text that the mac covers. */
export function edgePayload(request: EdgeRequest, stamp: { kid: string; seconds: number }): string {
  return ["v1", stamp.kid, stamp.seconds, request.method, request.target].join("\n");
}

/** Validates a signature against the HMAC (base64url) that its payload should have, at a Unix time in seconds. */
export function validateEdgeSignature(
  signature: EdgeSignature,
  against: { hmac: string; seconds: number },
): EdgeVerdict {
  if (!equalInConstantTime(signature.mac, against.hmac)) return "tampered";
  const skew = Math.abs(against.seconds - signature.seconds);
  return skew <= allowedSkewSeconds ? "valid" : "outside-window"; // also without a clock (NaN)
}

/** The header's value for a request. The first key of the ring signs. */
export async function signEdgeRequest(
  request: EdgeRequest,
  { ring, seconds }: { ring: KeyRing; seconds: number },
): Promise<string> {
  const { kid, key } = signingKey(ring);
  return `v1.${kid}.${seconds}.${await hmacSha256(key, edgePayload(request, { kid, seconds }))}`;
}
