import { fromBase64url } from "./base64url.ts";
import { aboutApiPath, regionsPath, trendingPath } from "./paths.ts";

/**
 * Public keys (RFC 7517, RFC 8037), as at /.well-known/jwks.json. Each is for one thing: the signatures of responses
 * (RFC 9421), the tokens in lists, or the pointers of a store (pointer.ts). A key without `purpose` signs responses.
 */
export type PublicKey = {
  kty: "OKP";
  crv: "Ed25519";
  kid: string;
  x: string;
  use?: "sig";
  alg?: "EdDSA";
  purpose?: KeyPurpose;
  /** The origin names a key that is not its own: an edge signs with it what it makes of the origin's documents. */
  delegated_to?: "edge";
};
export type KeyPurpose = AnswerKeyPurpose | "publications";
/** What an origin has keys for. A writer has those for publications. */
export type AnswerKeyPurpose = "responses" | "tokens";
export type PublicKeySet = { keys: PublicKey[] };

/** What edges join from several writers' documents. A key set is not among it: nobody delegates on. */
const joinedByEdges: readonly string[] = [regionsPath, aboutApiPath];

/**
 * Whether a key may sign an answer: the origin's any, one that is delegated to the edge only what edges make, which is
 * lists, what does not exist, and what they join.
 */
export function mayAnswer(
  { delegated_to }: PublicKey,
  { status, target }: { status: number; target: string },
): boolean {
  const isMade = status === 404 || target.startsWith(`${trendingPath}?`) || joinedByEdges.includes(target);
  return delegated_to === undefined || isMade;
}

export function isTokenKey({ purpose }: PublicKey): boolean {
  return purpose === "tokens";
}

export function isResponseKey({ purpose = "responses" }: PublicKey): boolean {
  return purpose === "responses";
}

export function isPublicationKey({ purpose }: PublicKey): boolean {
  return purpose === "publications";
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
