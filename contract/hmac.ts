import { toBase64url } from "./base64url.ts";

const imported = new WeakMap<Uint8Array, Promise<CryptoKey>>();

/** HMAC-SHA-256 as base64url (43 characters), through WebCrypto: the one way that Bun and workerd share. */
export async function hmacSha256(key: Uint8Array<ArrayBuffer>, text: string): Promise<string> {
  const mac = await crypto.subtle.sign("HMAC", await importKey(key), new TextEncoder().encode(text));
  return toBase64url(new Uint8Array(mac));
}

/** Whether two texts are the same, in a time that depends on their lengths only. */
export function equalInConstantTime(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left.charCodeAt(i) ^ right.charCodeAt(i);
  return difference === 0;
}

function importKey(key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const promise = crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  imported.set(key, promise);
  return promise;
}
