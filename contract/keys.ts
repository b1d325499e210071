// Uint8Array has its own methods in Bun, workerd, new browsers and Node.js from 25 on. What the package @trendvault/client
// is made of runs in older ones, too.

/** Base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  return "toBase64" in bytes ? bytes.toBase64() : btoa(String.fromCharCode(...(bytes as Uint8Array)));
}

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64url(bytes: Uint8Array): string {
  if ("toBase64" in bytes) return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes of base64url text, or null when it is something else. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    if ("fromBase64" in Uint8Array) return Uint8Array.fromBase64(text, { alphabet: "base64url" });
    if (/[+/]/.test(text)) return null;
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return (Uint8Array as Uint8ArrayConstructor).from(binary, (byte) => byte.charCodeAt(0));
  } catch {
    return null; // the only thing it throws is a SyntaxError (a DOMException of atob) about the text
  }
}

/** The private key of a seed of 32 bytes as PKCS #8 (RFC 8410, section 7), which WebCrypto imports. */
export function pkcs8OfSeed(seed: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...prefix, ...seed]);
}

// As numbers: Node.js has no Uint8Array.fromHex() before 25.
const prefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/**
 * Public keys (RFC 7517, RFC 8037), as at /.well-known/jwks.json. Each is for one thing: the signatures of responses
 * (RFC 9421), the tokens in lists, or the pointers of a store (pointer.ts). A key without `purpose` signs responses.
 */
export type PublicKey = {
  kty: "OKP";
  crv: "Ed25519";
  kid: string;
  x: string;
  use?: "sig";
  alg?: "EdDSA";
  purpose?: KeyPurpose;
  /** The origin names a key that is not its own: an edge signs with it what it makes of the origin's documents. */
  delegated_to?: "edge";
};
type KeyPurpose = AnswerKeyPurpose | "publications";
/** What an origin has keys for. A writer has those for publications. */
export type AnswerKeyPurpose = "responses" | "tokens";
export type PublicKeySet = { keys: PublicKey[] };

export function isKeyFor(purpose: KeyPurpose, { purpose: own = "responses" }: PublicKey): boolean {
  return own === purpose;
}

/** Whether the owner of a key signed the text (ed25519, RFC 8032). */
export async function isSignedBy(
  { x }: PublicKey,
  text: string,
  signature: ArrayBuffer | Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const publicKey = fromBase64url(x);
  if (publicKey === null) return false;
  const imported = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", imported, signature, new TextEncoder().encode(text));
}

/** Keys by id, in the order given. The first signs; all of them verify. */
export type KeyRing = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

const kidPattern = /^[A-Za-z0-9]{1,16}$/;
const shortestKey = 32; // bytes: as long as the output of SHA-256 (RFC 2104, section 3)

/** Reads "k2:<base64url>,k1:<base64url>". @throws Error that says which entry is wrong and what was expected */
export function parseKeyRing(text: string): KeyRing {
  const ring = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [index, entry] of text.split(",").entries()) {
    const [kid, key] = readEntry(entry.trim(), index + 1);
    if (ring.has(kid)) throw new Error(`key id ${kid} is used twice`);
    ring.set(kid, key);
  }
  return ring;
}

/** Whether a key is one byte again and again: a placeholder, and not random. */
export function isOneByteRepeated(key: Uint8Array): boolean {
  return key.every((byte) => byte === key[0]);
}

// Never quotes the entry: it holds a secret.
function readEntry(entry: string, position: number): [string, Uint8Array<ArrayBuffer>] {
  const colon = entry.indexOf(":");
  const kid = entry.slice(0, Math.max(colon, 0));
  if (!kidPattern.test(kid)) {
    throw new Error(
      `entry ${position} does not begin with a key id of 1 to 16 letters or digits and a colon`,
    );
  }
  const key = fromBase64url(entry.slice(colon + 1));
  if (key === null) throw new Error(`the key of ${kid} is not base64url`);
  if (key.length < shortestKey) {
    throw new Error(`the key of ${kid} has ${key.length} bytes, at least ${shortestKey} are needed`);
  }
  if (isOneByteRepeated(key)) throw new Error(`the key of ${kid} is one byte repeated: make a random one`);
  return [kid, key];
}
