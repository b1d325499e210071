import { fromBase64url } from "./base64url.ts";

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

/** The first entry: it signs. @throws Error for an empty ring */
export function signingKey(ring: KeyRing): { kid: string; key: Uint8Array<ArrayBuffer> } {
  for (const [kid, key] of ring) return { kid, key };
  throw new Error("a key ring holds at least one key");
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
