import { hmacSha256 } from "./hmac.ts";
import { type KeyRing, signingKey } from "./key-ring.ts";

/**
 * How the edge proves to the origin that a request comes from it:
 *
 *     x-edge-signature: v2.<kid>.<minute>.<mac>
 *     mac = base64url(HMAC-SHA-256(key[kid], "trendvault-edge\nv2\n<kid>\n<minute>"))
 *
 * minute is Unix time divided by 60. The origin accepts the minute of its clock, the one before and the next, and
 * compares whole values in constant time. A value is the same for every request of a minute: decision 0026 says why
 * it does not name the target.
 */
export const edgeSignatureHeader = "x-edge-signature";

type EdgeStamp = { kid: string; minute: number };

/** The minute of a Unix time in seconds. */
export function edgeMinute(seconds: number): number {
  return Math.floor(seconds / 60);
}

/** The minutes whose signatures are accepted in a minute, the likeliest first. */
export function acceptedMinutes(minute: number): number[] {
  return [minute, minute - 1, minute + 1];
}

/** The text that the mac covers. Its first line belongs to no other payload, should a key be used twice. */
export function edgePayload({ kid, minute }: EdgeStamp): string {
  return ["trendvault-edge", "v2", kid, minute].join("\n");
}

/** The header's value. `mac` is the HMAC of the payload as base64url. */
export function formatEdgeSignature({ kid, minute }: EdgeStamp, mac: string): string {
  return `v2.${kid}.${minute}.${mac}`;
}

/** Signs with the first key of a ring, once a minute. */
export class EdgeSigner {
  readonly #kid: string;
  readonly #key: Uint8Array<ArrayBuffer>;
  #minute = Number.NaN;
  #signature = "";

  /** @throws Error for an empty ring */
  constructor(ring: KeyRing) {
    const { kid, key } = signingKey(ring);
    this.#kid = kid;
    this.#key = key;
  }

  /** The header's value at a Unix time in seconds. */
  async sign(seconds: number): Promise<string> {
    const minute = edgeMinute(seconds);
    if (minute === this.#minute) return this.#signature;
    const stamp = { kid: this.#kid, minute };
    const signature = formatEdgeSignature(stamp, await hmacSha256(this.#key, edgePayload(stamp)));
    // The text is kept, and not its promise: in workerd a request cannot wait for what another one has begun.
    this.#signature = signature;
    this.#minute = minute;
    return signature;
  }
}
