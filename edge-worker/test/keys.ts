import { createHash, createPrivateKey, createPublicKey, randomBytes } from "node:crypto";

const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex"); // RFC 8410: an Ed25519 seed follows

export const tokenKeys = `k1:${randomBytes(32).toString("base64url")}`;
export const edgeKeys = `e1:${randomBytes(32).toString("base64url")}`;
const seed = randomBytes(32);
export const signingKey = seed.toString("base64url");

/** The key set that belongs to `signingKey`, as /.well-known/jwks.json gives it. */
export const keySet = JSON.stringify({ keys: [publicKeyOf(seed)] });

function publicKeyOf(seed: Buffer) {
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: "der",
    type: "pkcs8",
  });
  const { crv, kty, x } = createPublicKey(privateKey).export({ format: "jwk" });
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url"); // RFC 7638
  return { kty, crv, kid, x };
}
