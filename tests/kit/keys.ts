import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { edgeLifetimes } from "@trendvault/contract/lists";
import { readSignedFields, signatureOver } from "@trendvault/contract/signature-base";

/** What the origin answered to a target. */
export type Exchange = { status: number; headers: [string, string][]; body: string };

/** A response of the origin, whole. */
export type WholeResponse = { status: number; headers: Record<string, string>; body: Buffer };

const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex"); // RFC 8410: an Ed25519 seed follows

const tokenSeed = randomBytes(32);
export const tokenSigningKey = tokenSeed.toString("base64url");
/** Keys of writers: the pull of counts is signed with the first. */
export const viewsKeys = `v1:${randomBytes(32).toString("base64url")}`;
export const edgeKeys = `e1:${randomBytes(32).toString("base64url")}`;
const seed = randomBytes(32);
export const signingKey = seed.toString("base64url");

const privateKey = privateKeyOf(seed);
const publicKey = describe(createPublicKey(privateKey));
const tokenKey = describe(createPublicKey(privateKeyOf(tokenSeed)));

/** The key set that belongs to `signingKey` and `tokenSigningKey`, as /.well-known/jwks.json gives it. */
export const keySet = JSON.stringify({
  keys: [publicKey, { ...tokenKey, kid: tokenKey.kid.slice(0, 8), purpose: "tokens" }],
});

/**
 * A changed response of the origin with a signature that is right again, made at a time (Unix seconds). An unsigned one
 * stays so.
 */
export function signAgain(whole: WholeResponse, created = Math.floor(Date.now() / 1000)): WholeResponse {
  const { status, headers } = whole;
  if (headers.signature === undefined) return whole;
  const fields = readSignedFields(new Headers(headers));
  const parameters = { created, keyid: publicKey.kid, alg: "ed25519" } as const;
  const { base, write } = signatureOver({ status, fields }, parameters);
  return { ...whole, headers: { ...headers, ...write(sign(null, Buffer.from(base), privateKey)) } };
}

/** A signed page without items, of a ranking that was made at that time (Unix seconds), by default just now, with further fields. */
export function signedPage(target: string, now = Math.floor(Date.now() / 1000), fields = {}): Exchange {
  const page = { generated_at: new Date(now * 1000).toISOString(), next: null, ...fields };
  const body = Buffer.from(JSON.stringify(page));
  const digest = createHash("sha256").update(body).digest("base64");
  const headers = {
    "content-type": "application/json",
    "unencoded-digest": `sha-256=:${digest}:`,
    etag: '"a"',
    "content-location": target,
    "trendvault-cache-control": edgeLifetimes.answer,
    signature: "",
  };
  const signed = signAgain({ status: 200, headers, body }, now);
  return { status: 200, headers: Object.entries(signed.headers), body: body.toString() };
}

function privateKeyOf(bytes: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, bytes]), format: "der", type: "pkcs8" });
}

function describe(key: KeyObject) {
  const { crv, kty, x } = key.export({ format: "jwk" });
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url"); // RFC 7638
  return { kty, crv, kid, x };
}
