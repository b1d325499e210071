import { fromBase64url } from "./base64url.ts";

/**
 * How an edge, a mirror or a partner checks that an answer is the origin's, whatever compressed it on the way:
 * Unencoded-Digest (draft-ietf-httpbis-unencoded-digest) covers the body before content coding, and an
 * RFC 9421 signature (ed25519) covers that digest, the status, the type and the entity tag.
 */
export const coveredFields = ["content-type", "unencoded-digest", "etag"] as const;

/** Public keys as /.well-known/jwks.json serves them (RFC 7517, RFC 8037). */
export type PublicKey = { kty: "OKP"; crv: "Ed25519"; kid: string; x: string };
export type PublicKeySet = { keys: PublicKey[] };

export type Signed = { status: number; fields: Record<(typeof coveredFields)[number], string> };

export type SignatureVerdict = "valid" | "unsigned" | "unknown-key" | "digest-differs" | "signature-differs";

/** The parameters of a signature; the text after `tv=` in Signature-Input. `created` is Unix time in seconds. */
export function signatureParameters(signer: { kid: string; created: number }): string {
  const components = ["@status", ...coveredFields].map((name) => `"${name}"`).join(" ");
  return `(${components});created=${signer.created};keyid="${signer.kid}";alg="ed25519"`;
}

/** The bytes under the signature (RFC 9421, section 2.5). */
export function signatureBase({ status, fields }: Signed, parameters: string): string {
  const lines = coveredFields.map((name) => `"${name}": ${fields[name]}`);
  return [`"@status": ${status}`, ...lines, `"@signature-params": ${parameters}`].join("\n");
}

/** Checks an answer. `body` is the content after undoing its coding, as fetch() gives it. */
export async function verifyResponse(
  response: { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> },
  keys: PublicKeySet,
): Promise<SignatureVerdict> {
  const { status, headers, body } = response;
  const parameters =
    /^tv=(\("@status" "content-type" "unencoded-digest" "etag"\);created=[0-9]+;keyid="([A-Za-z0-9_-]+)";alg="ed25519")$/.exec(
      headers.get("signature-input") ?? "",
    );
  const signature = /^tv=:([A-Za-z0-9+/]{86}==):$/.exec(headers.get("signature") ?? "")?.[1];
  if (parameters === null || signature === undefined) return "unsigned";
  const key = keys.keys.find(({ kid }) => kid === parameters[2]);
  if (key === undefined) return "unknown-key";
  const fields = {
    "content-type": headers.get("content-type") ?? "",
    "unencoded-digest": headers.get("unencoded-digest") ?? "",
    etag: headers.get("etag") ?? "",
  };
  if (fields["unencoded-digest"] !== (await unencodedDigest(body))) return "digest-differs";
  const base = signatureBase({ status, fields }, parameters[1] ?? "");
  return (await isSignedBy(key, base, signature)) ? "valid" : "signature-differs";
}

/** The value of Unencoded-Digest for a body. */
export async function unencodedDigest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return `sha-256=:${new Uint8Array(await crypto.subtle.digest("SHA-256", body)).toBase64()}:`;
}

async function isSignedBy(key: PublicKey, base: string, signature: string): Promise<boolean> {
  const publicKey = fromBase64url(key.x);
  if (publicKey === null) return false;
  const imported = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
  const bytes = Uint8Array.fromBase64(signature);
  return crypto.subtle.verify("Ed25519", imported, bytes, new TextEncoder().encode(base));
}
