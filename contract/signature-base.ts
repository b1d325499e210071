import { toBase64 } from "./keys.ts";

/**
 * What the origin signs of a response (RFC 9421, ed25519): its status and these fields. Unencoded-Digest
 * (draft-ietf-httpbis-unencoded-digest) covers the body before content coding, so that a proxy may compress it.
 * Content-Location names the question that the response is the answer to; TrendVault-Cache-Control (lists.ts) says
 * for how long it is one.
 */
const coveredFields = [
  "content-type",
  "unencoded-digest",
  "etag",
  "content-location",
  "trendvault-cache-control",
] as const;

/** The covered components in the order in which Signature-Input lists them. */
export const coveredComponents: readonly string[] = ["@status", ...coveredFields];

/** The covered fields of a response. */
export type SignedFields = Record<(typeof coveredFields)[number], string>;

type SignedMessage = { status: number; fields: SignedFields };

/** `created` is Unix time in seconds, `keyid` a `kid` of /.well-known/jwks.json. */
export type SignatureParameters = { created: number; keyid: string; alg: "ed25519" };

/** The fields that a response without a body (304, HEAD) does not have: a browser would hold the digest against no body. */
export const bodyOnlyFields = ["unencoded-digest", "signature-input", "signature"] as const;

/** Reads the covered fields; one that is missing is empty. */
export function readSignedFields(headers: Headers): SignedFields {
  return Object.fromEntries(coveredFields.map((name) => [name, headers.get(name) ?? ""])) as SignedFields;
}

/** The text that is signed (RFC 9421, section 2.5), and the two fields that a signature of it makes. */
export function signatureOver(
  { status, fields }: SignedMessage,
  parameters: SignatureParameters,
): { base: string; write: (signature: Uint8Array) => SignatureFields } {
  const input = serializeParameters(parameters);
  const lines = coveredFields.map((name) => `"${name}": ${fields[name]}`);
  return {
    base: [`"@status": ${status}`, ...lines, `"@signature-params": ${input}`].join("\n"),
    write: (signature) => ({ "signature-input": `tv=${input}`, signature: `tv=:${toBase64(signature)}:` }),
  };
}

/**
 * The covered components with the parameters, in the order of their members, as they are in Signature-Input after
 * the label (RFC 9421, section 2.3).
 */
function serializeParameters(parameters: SignatureParameters): string {
  const components = coveredComponents.map((name) => `"${name}"`).join(" ");
  const members = Object.entries(parameters).map(
    ([name, value]) => `;${name}=${typeof value === "number" ? value : `"${value}"`}`,
  );
  return `(${components})${members.join("")}`;
}

export type SignatureFields = { "signature-input": string; signature: string };
