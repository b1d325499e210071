import { type InnerList, type Item, parseDictionary } from "structured-headers";
import { isKeyFor, isSignedBy, type PublicKey, type PublicKeySet, toBase64 } from "./keys.ts";
import { paths } from "./paths.ts";
import {
  coveredComponents,
  readSignedFields,
  type SignatureFields,
  type SignatureParameters,
  type SignedFields,
  signatureOver,
} from "./signature-base.ts";

/** How the edge, a mirror or a partner verifies that a response is the origin's (RFC 9421). */

export type SignatureVerdict = "valid" | "unsigned" | "unknown-key" | "digest-differs" | "signature-differs";

/** A response as fetch() gives it: `body` is the content after decoding it. */
type ReceivedResponse = { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> };

/**
 * What is certain of a valid response. `signatureFields` are the origin's alone, written anew; `created` is when it
 * signed, in Unix seconds. How old that may be is for the caller to decide.
 */
type VerifiedSignature = {
  verdict: "valid";
  fields: SignedFields;
  signatureFields: SignatureFields;
  created: number;
};

/** A signature over exactly the components that the origin covers, with its parameters in the order received. */
type Candidate = { parameters: SignatureParameters; signature: ArrayBuffer };

/**
 * Verifies a response. Other signatures beside the origin's, and other labels, are allowed: proxies add and rename them
 * (RFC 9421, section 4.3).
 */
export async function verifyResponse(
  response: ReceivedResponse,
  keys: PublicKeySet,
): Promise<SignatureVerdict> {
  return (await verifySignature(response, keys)).verdict;
}

/** The same, with what a valid signature says. Of several valid ones, the one that was made last. */
export async function verifySignature(
  { status, headers, body }: ReceivedResponse,
  keys: PublicKeySet,
): Promise<VerifiedSignature | { verdict: Exclude<SignatureVerdict, "valid"> }> {
  const candidates = readCandidates(headers);
  if (candidates.length === 0) return { verdict: "unsigned" };
  const fields = readSignedFields(headers);
  const target = fields["content-location"];
  const ours = keys.keys.filter((key) => isKeyFor("responses", key) && mayAnswer(key, { status, target }));
  const known = candidates.flatMap((candidate) =>
    ours.filter(({ kid }) => kid === candidate.parameters.keyid).map((key) => ({ key, ...candidate })),
  );
  if (known.length === 0) return { verdict: "unknown-key" };
  if (fields["unencoded-digest"] !== (await unencodedDigest(body))) return { verdict: "digest-differs" };
  known.sort((left, right) => right.parameters.created - left.parameters.created);
  for (const { key, parameters, signature } of known.slice(0, mostVerified)) {
    const { base, write } = signatureOver({ status, fields }, parameters);
    if (!(await isSignedBy(key, base, signature))) continue;
    const { created } = parameters;
    return { verdict: "valid", fields, signatureFields: write(new Uint8Array(signature)), created };
  }
  return { verdict: "signature-differs" };
}

const mostVerified = 8; // a response may claim any number of signatures, and each costs time to verify

/** The value of Unencoded-Digest (draft-ietf-httpbis-unencoded-digest) for a body. */
export async function unencodedDigest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  return `sha-256=:${toBase64(new Uint8Array(await crypto.subtle.digest("SHA-256", body)))}:`;
}

function readCandidates(headers: Headers): Candidate[] {
  const inputs = parseMembers(headers.get("signature-input"));
  const signatures = parseMembers(headers.get("signature"));
  return [...inputs].flatMap(([label, input]) => {
    const parameters = isInnerList(input) ? readParameters(input) : null;
    const signature = signatures.get(label)?.[0];
    return parameters !== null && signature instanceof ArrayBuffer ? [{ parameters, signature }] : [];
  });
}

/** The members of a structured dictionary (RFC 9651); none when the field is missing or malformed. */
function parseMembers(field: string | null): Map<string, Item | InnerList> {
  try {
    return parseDictionary(field ?? "");
  } catch {
    return new Map(); // it throws a ParseError only
  }
}

function isInnerList(member: Item | InnerList): member is InnerList {
  return Array.isArray(member[0]);
}

/** The parameters of a signature over exactly our components with exactly our parameters, else null. */
function readParameters([components, parameters]: InnerList): SignatureParameters | null {
  const received = Object.fromEntries(parameters);
  const { created, keyid, alg, ...others } = received;
  const isOurs =
    components.length === coveredComponents.length &&
    components.every(([name, { size }], index) => name === coveredComponents[index] && size === 0) &&
    Number.isInteger(created) &&
    typeof keyid === "string" &&
    alg === "ed25519" &&
    Object.keys(others).length === 0;
  return isOurs ? (received as SignatureParameters) : null;
}

/** What edges join from several writers' documents. A key set is not among it: nobody delegates on. */
const joinedByEdges: readonly string[] = [paths.regions, paths.about];

/**
 * Whether a key may sign an answer: the origin's any, one that is delegated to the edge only what edges make, which is
 * lists, what does not exist, and what they join.
 */
function mayAnswer(
  { delegated_to }: PublicKey,
  { status, target }: { status: number; target: string },
): boolean {
  const isMade = status === 404 || target.startsWith(`${paths.trending}?`) || joinedByEdges.includes(target);
  return delegated_to === undefined || isMade;
}
