/**
 * What the origin signs of a response (RFC 9421, ed25519): its status and these fields. Unencoded-Digest
 * (draft-ietf-httpbis-unencoded-digest) covers the body before content coding, so that a proxy may compress it.
 */
export const coveredFields = ["content-type", "unencoded-digest", "etag"] as const;

/** The covered components in the order in which Signature-Input lists them. */
export const coveredComponents: readonly string[] = ["@status", ...coveredFields];

export type SignedMessage = { status: number; fields: Record<(typeof coveredFields)[number], string> };

/** `created` is Unix time in seconds, `keyid` a `kid` of /.well-known/jwks.json. */
export type SignatureParameters = { created: number; keyid: string; alg: "ed25519" };

/**
 * The covered components with the parameters, in the order of their members, as they are in Signature-Input after
 * the label (RFC 9421, section 2.3).
 */
export function serializeParameters(parameters: SignatureParameters): string {
  const components = coveredComponents.map((name) => `"${name}"`).join(" ");
  const members = Object.entries(parameters).map(
    ([name, value]) => `;${name}=${typeof value === "number" ? value : `"${value}"`}`,
  );
  return `(${components})${members.join("")}`;
}

/** The text that is signed (RFC 9421, section 2.5). `parameters` as serializeParameters() gives them. */
export function signatureBase({ status, fields }: SignedMessage, parameters: string): string {
  const lines = coveredFields.map((name) => `"${name}": ${fields[name]}`);
  return [`"@status": ${status}`, ...lines, `"@signature-params": ${parameters}`].join("\n");
}
