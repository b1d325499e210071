import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { toBase64url } from "@trendvault/contract/base64url";
import {
  type PublicKeySet,
  type Signed,
  signatureBase,
  signatureParameters,
} from "@trendvault/contract/response-signature";

/** Signs answers with ed25519 (RFC 9421), without waiting: it happens inside a build. */
export type ResponseSigner = {
  /** The fields to add. `created` is Unix time in seconds. */
  sign(signed: Signed, created: number): { "signature-input": string; signature: string };
  publicKeys: PublicKeySet;
};

/** The first seed signs. The keys of the others stay published, for answers signed before a change of keys. */
export function responseSigner(seeds: Uint8Array[]): ResponseSigner {
  const keys = seeds.map(privateKey);
  const [first] = keys;
  if (first === undefined) throw new Error("Cannot sign without a key");
  const publicKeys: PublicKeySet = { keys: keys.map(describePublicKey) };
  const kid = publicKeys.keys[0]?.kid ?? "";
  return {
    publicKeys,
    sign(signed, created) {
      const parameters = signatureParameters({ kid, created });
      const signature = sign(null, Buffer.from(signatureBase(signed, parameters)), first);
      return { "signature-input": `tv=${parameters}`, signature: `tv=:${signature.toString("base64")}:` };
    },
  };
}

// The fixed beginning of an ed25519 private key in PKCS #8 (RFC 8410, section 7); the 32-byte seed follows.
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

function privateKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
}

function describePublicKey(key: KeyObject): PublicKeySet["keys"][number] {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  const thumbprint = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest();
  return { kty: "OKP", crv: "Ed25519", kid: toBase64url(thumbprint), x };
}
