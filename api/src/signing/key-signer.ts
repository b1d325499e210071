import { pkcs8OfSeed, toBase64url } from "@trendvault/contract/keys";

/** Signs bytes with one ed25519 key (RFC 8032). */
export type KeySigner = {
  /** The key's JWK thumbprint (RFC 7638). */
  thumbprint: string;
  /** The public half: `x` of a JWK (RFC 8037). */
  x: string;
  /** Signs in another thread. */
  sign(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** Signs here and now; null until `prepare` was called. */
  signNow: ((bytes: Uint8Array) => Uint8Array<ArrayBuffer>) | null;
  /** Loads what `signNow` needs, in some milliseconds. */
  prepare(): void;
};

/**
 * A signer from a seed of 32 bytes. Through WebCrypto: node:crypto would take 6 ms of the start, and is loaded
 * afterwards.
 */
export async function keySigner(seed: Uint8Array): Promise<KeySigner> {
  const pkcs8 = pkcs8OfSeed(seed);
  const isExtractable = true; // the public half is read from it
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", isExtractable, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", key);
  const signer: KeySigner = {
    thumbprint: thumbprintOf(x),
    x,
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, bytes)),
    signNow: null,
    prepare() {
      signer.signNow ??= createSign(pkcs8);
    },
  };
  return signer;
}

/** The JWK thumbprint (RFC 7638) of a public key by its `x`. */
export function thumbprintOf(x: string): string {
  const canonical = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
  return toBase64url(new Bun.CryptoHasher("sha256").update(canonical).digest());
}

function createSign(pkcs8: Uint8Array): (bytes: Uint8Array) => Uint8Array<ArrayBuffer> {
  const { createPrivateKey, sign } = require("node:crypto") as typeof import("node:crypto");
  const key = createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" });
  return (bytes) => new Uint8Array(sign(null, bytes, key));
}
