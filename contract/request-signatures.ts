import { type KeyRing, toBase64url } from "./keys.ts";

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

/**
 * The values that are accepted in a minute, the likeliest first. `hmac`: the HMAC of a text by the key of that id, as
 * base64url.
 */
export function acceptedSignatures(kid: string, current: number, hmac: (text: string) => string): string[] {
  return [current, current - 1, current + 1].map((minute) =>
    formatEdgeSignature({ kid, minute }, hmac(edgePayload({ kid, minute }))),
  );
}

/** The text that the mac covers. Its first line belongs to no other payload, should a key be used twice. */
function edgePayload({ kid, minute }: EdgeStamp): string {
  return ["trendvault-edge", "v2", kid, minute].join("\n");
}

function formatEdgeSignature({ kid, minute }: EdgeStamp, mac: string): string {
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

type PullFields = { "signature-input": string; signature: string };

type PullVerdict = "valid" | "unsigned" | "unknown-key" | "tampered" | "not-now";

/** The clocks of writer and edge may differ by so much. */
const pullLeewaySeconds = 60;

const fieldPattern =
  /^pull=(\("@method" "@path" "@query"\);created=([1-9][0-9]{0,11});nonce="([A-Za-z0-9_-]{16,64})";keyid="([A-Za-z0-9]{1,16})";alg="hmac-sha256")$/;
const macPattern = /^pull=:([A-Za-z0-9+/]{43}=):$/;

/** The text that is signed (RFC 9421, section 2.5). `parameters`: the text of Signature-Input after the label. */
function pullSignatureBase({ method, path, query }: PullRequest, parameters: string): string {
  return [
    `"@method": ${method}`,
    `"@path": ${path}`,
    `"@query": ${query === "" ? "?" : query}`,
    `"@signature-params": ${parameters}`,
  ].join("\n");
}

/** Verifies a request at `now` (Unix seconds). `query` begins with `?`, or is empty; a missing field is empty. */
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

const imported = new WeakMap<Uint8Array, Promise<CryptoKey>>();

/** HMAC-SHA-256 as base64url (43 characters), through WebCrypto: the one way that Bun and workerd share. */
async function hmacSha256(key: Uint8Array<ArrayBuffer>, text: string): Promise<string> {
  const mac = await crypto.subtle.sign("HMAC", await importKey(key), new TextEncoder().encode(text));
  return toBase64url(new Uint8Array(mac));
}

function importKey(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const promise = crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  imported.set(key, promise);
  return promise;
}

/** The first entry: it signs. @throws Error for an empty ring */
function signingKey(ring: KeyRing): { kid: string; key: Uint8Array<ArrayBuffer> } {
  for (const [kid, key] of ring) return { kid, key };
  throw new Error("a key ring holds at least one key");
}

/** Whether two texts are the same, in a time that depends on their lengths only. */
function equalInConstantTime(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left.charCodeAt(i) ^ right.charCodeAt(i);
  return difference === 0;
}
