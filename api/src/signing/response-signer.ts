import { toBase64url } from "@trendvault/contract/base64url";
import type { PublicKeySet } from "@trendvault/contract/response-signature";
import {
  type SignatureFields,
  type SignedMessage,
  serializeParameters,
  signatureBase,
  signatureFields,
} from "@trendvault/contract/signature-base";

/** Signs answers with ed25519 (RFC 9421). */
export type ResponseSigner = {
  /** The fields to add. `created` is Unix time in seconds. */
  sign(signed: SignedMessage, created: number): Promise<SignatureFields>;
  /** The same without waiting; null until `prepare` was called. */
  signNow: ((signed: SignedMessage, created: number) => SignatureFields) | null;
  /** Loads what `signNow` needs, in some milliseconds. */
  prepare(): void;
  publicKeys: PublicKeySet;
};

/**
 * The first seed signs. The keys of the others stay published, for answers signed before a change of keys.
 * Through WebCrypto: node:crypto would take 6 ms of the start, and is loaded afterwards.
 */
export async function responseSigner(seeds: Uint8Array[]): Promise<ResponseSigner> {
  const keys = await Promise.all(seeds.map(importSeed));
  const [first] = keys;
  if (first === undefined) throw new Error("Cannot sign without a key");
  const publicKeys: PublicKeySet = { keys: await Promise.all(keys.map(describePublicKey)) };
  const kid = publicKeys.keys[0]?.kid ?? "";
  const describeMessage = (signed: SignedMessage, created: number) => {
    const parameters = serializeParameters({ created, keyid: kid, alg: "ed25519" });
    return { parameters, base: new TextEncoder().encode(signatureBase(signed, parameters)) };
  };
  const signer: ResponseSigner = {
    publicKeys,
    async sign(signed, created) {
      const { parameters, base } = describeMessage(signed, created);
      const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", first, base));
      return signatureFields(parameters, signature);
    },
    signNow: null,
    prepare() {
      const [seed] = seeds;
      if (signer.signNow !== null || seed === undefined) return;
      const signBytes = createSign(seed);
      signer.signNow = (signed, created) => {
        const { parameters, base } = describeMessage(signed, created);
        return signatureFields(parameters, signBytes(base));
      };
    },
  };
  return signer;
}

function createSign(seed: Uint8Array): (bytes: Uint8Array) => Uint8Array<ArrayBuffer> {
  const { createPrivateKey, sign } = require("node:crypto") as typeof import("node:crypto");
  const key = createPrivateKey({ key: Buffer.from([...pkcs8Prefix, ...seed]), format: "der", type: "pkcs8" });
  return (bytes) => new Uint8Array(sign(null, bytes, key));
}

// The fixed beginning of an ed25519 private key in PKCS #8 (RFC 8410, section 7); the 32-byte seed follows.
const pkcs8Prefix = Uint8Array.fromHex("302e020100300506032b657004220420");

function importSeed(seed: Uint8Array): Promise<CryptoKey> {
  const key = new Uint8Array([...pkcs8Prefix, ...seed]);
  const isExtractable = true; // the public half is read from it
  return crypto.subtle.importKey("pkcs8", key, "Ed25519", isExtractable, ["sign"]);
}

// The id is the JWK thumbprint (RFC 7638).
async function describePublicKey(key: CryptoKey): Promise<PublicKeySet["keys"][number]> {
  const { x = "" } = await crypto.subtle.exportKey("jwk", key);
  const canonical = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
  const kid = toBase64url(new Bun.CryptoHasher("sha256").update(canonical).digest());
  return { kty: "OKP", crv: "Ed25519", kid, x };
}
