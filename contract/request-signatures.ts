import {
  equalInConstantTime,
  fromBase64url,
  hmacSha256,
  type KeyRing,
  signingKey,
  toBase64url,
} from "./keys.ts";

/**
 * How the edge proves to the origin that a request comes from it:
 *
 *     x-edge-signature: v2.<kid>.<minute>.<mac>
 *     mac = base64url(HMAC-SHA-256(key[kid], "trendvault-edge\nv2\n<kid>\n<minute>"))
 *
 * minute is Unix time divided by 60. The origin accepts the minute of its clock, the one before and the next, and
 * compares whole values in constant time. A value is the same for every request of a minute: decision 8 says why
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

/**
 * How the writer proves to the edge that a request for counted minutes is its own: an HTTP message signature (RFC 9421)
 * over method, path and query, with a key of VIEWS_KEYS. Of the forms that RFC 9421 allows we write one, and take no
 * other:
 *
 *     Signature-Input: pull=("@method" "@path" "@query");created=1795176000;nonce="…";keyid="v1";alg="hmac-sha256"
 *     Signature:       pull=:<base64 of HMAC-SHA-256(key, base)>:
 *
 * The base is four lines without a last line feed, the last one with the text of Signature-Input after `pull=`:
 *
 *     "@method": GET
 *     "@path": /api/views/minutes
 *     "@query": ?shard=GB-0&after=29919600
 *     "@signature-params": ("@method" "@path" "@query");created=…
 *
 * Without a query, `@query` is `?` (RFC 9421, section 2.2.7). The nonce makes every request another one; a pull changes
 * nothing, so that repeating one within its minute gives what the first was given.
 */
type PullRequest = { method: string; path: string; query: string };

/** `created` is Unix time in seconds, `nonce` 16 to 64 characters of base64url, `keyid` a key's id in VIEWS_KEYS. */
export type PullParameters = { created: number; nonce: string; keyid: string };

export type PullFields = { "signature-input": string; signature: string };

export type PullVerdict = "valid" | "unsigned" | "unknown-key" | "tampered" | "not-now";

/** The clocks of writer and edge may differ by so much. */
const pullLeewaySeconds = 60;

const fieldPattern =
  /^pull=(\("@method" "@path" "@query"\);created=([1-9][0-9]{0,11});nonce="([A-Za-z0-9_-]{16,64})";keyid="([A-Za-z0-9]{1,16})";alg="hmac-sha256")$/;
const macPattern = /^pull=:([A-Za-z0-9+/]{43}=):$/;

/** The text of Signature-Input after the label. */
export function pullParameters({ created, nonce, keyid }: PullParameters): string {
  return `("@method" "@path" "@query");created=${created};nonce="${nonce}";keyid="${keyid}";alg="hmac-sha256"`;
}

/** The text that is signed (RFC 9421, section 2.5). `parameters` as pullParameters() gives them. */
export function pullSignatureBase({ method, path, query }: PullRequest, parameters: string): string {
  return [
    `"@method": ${method}`,
    `"@path": ${path}`,
    `"@query": ${query === "" ? "?" : query}`,
    `"@signature-params": ${parameters}`,
  ].join("\n");
}

/** The two fields that sign a request. `query` begins with `?`, or is empty. */
export async function signPull(
  request: PullRequest,
  parameters: PullParameters,
  key: Uint8Array<ArrayBuffer>,
): Promise<PullFields> {
  const input = pullParameters(parameters);
  const mac = fromBase64url(await hmacSha256(key, pullSignatureBase(request, input))) as Uint8Array;
  return { "signature-input": `pull=${input}`, signature: `pull=:${mac.toBase64()}:` };
}

/** Verifies a request at `now` (Unix seconds). A missing field is empty. */
export async function verifyPull(
  { fields, ...request }: PullRequest & { fields: PullFields },
  ring: KeyRing,
  now: number,
): Promise<PullVerdict> {
  const [, parameters = "", created, , keyid = ""] = fieldPattern.exec(fields["signature-input"]) ?? [];
  const [, mac = ""] = macPattern.exec(fields.signature) ?? [];
  if (parameters === "" || mac === "") return "unsigned";
  const key = ring.get(keyid);
  if (key === undefined) return "unknown-key";
  const expected = await hmacSha256(key, pullSignatureBase(request, parameters));
  if (!equalInConstantTime(asBase64url(mac), expected)) return "tampered";
  const isNow = Math.abs(now - Number(created)) <= pullLeewaySeconds; // false without a clock (NaN), too
  return isNow ? "valid" : "not-now";
}

// Two spellings of the last character stand for one mac; only the one that an encoder writes is taken.
function asBase64url(base64: string): string {
  const bytes = Uint8Array.fromBase64(base64);
  return bytes.toBase64() === base64 ? toBase64url(bytes) : "";
}
