import { fromBase64url } from "./base64url.ts";

/**
 * The public keys at /.well-known/jwks.json (RFC 7517, RFC 8037). Each is for one thing: the signatures of responses
 * (RFC 9421), or the tokens in lists. A key without `purpose` signs responses.
 */
export type PublicKey = {
  kty: "OKP";
  crv: "Ed25519";
  kid: string;
  x: string;
  use?: "sig";
  alg?: "EdDSA";
  purpose?: KeyPurpose;
};
export type KeyPurpose = "responses" | "tokens";
export type PublicKeySet = { keys: PublicKey[] };

export function isTokenKey({ purpose }: PublicKey): boolean {
  return purpose === "tokens";
}

export function isResponseKey(key: PublicKey): boolean {
  return !isTokenKey(key);
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
