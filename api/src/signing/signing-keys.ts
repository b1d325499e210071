import type { AnswerKeyPurpose, PublicKey, PublicKeySet } from "@trendvault/contract/keys";
import { type KeySigner, keySigner, thumbprintOf } from "./key-signer.ts";

/** What the origin signs with: a key for the signatures of responses (RFC 9421), another one for tokens (RFC 7515). */
export type SigningKeys = Record<AnswerKeyPurpose, SigningKey> & {
  publicKeys: PublicKeySet;
  /** Loads what signing at once needs. */
  prepare(): void;
};

type SigningKey = KeySigner & { kid: string };

const tokenKidLength = 8; // of a thumbprint: each token repeats it

/** Seeds of the keys by what they sign, and the public halves (`x` of a JWK) of keys that the edge signs with. */
type Keys = Record<AnswerKeyPurpose, Uint8Array[]> & { edges?: readonly string[] };

/**
 * The first seed of each purpose signs. The keys of the others stay published, for what was signed before a change of
 * keys. @throws Error when the edge's key is the origin's own
 */
export async function createSigningKeys({ edges = [], ...seeds }: Keys): Promise<SigningKeys> {
  const responses = await signersOf(seeds.responses, ({ thumbprint }) => thumbprint);
  const tokens = await signersOf(seeds.tokens, ({ thumbprint }) => thumbprint.slice(0, tokenKidLength));
  const described = [
    ...responses.map((key) => describe(key, "responses")),
    ...tokens.map((key) => describe(key, "tokens")),
  ];
  const known = new Set(described.map(({ x }) => x));
  if (edges.some((x) => known.has(x))) throw new Error(edgeHasOwnKey);
  return {
    responses: responses[0],
    tokens: tokens[0],
    publicKeys: { keys: [...described, ...edges.flatMap(describeEdge)] },
    prepare() {
      responses[0].prepare();
      tokens[0].prepare();
    },
  };
}

async function signersOf(
  seeds: Uint8Array[],
  kidOf: (signer: KeySigner) => string,
): Promise<[SigningKey, ...SigningKey[]]> {
  const signers = await Promise.all(seeds.map(keySigner));
  const [first, ...others] = signers.map((signer) => Object.assign(signer, { kid: kidOf(signer) }));
  if (first === undefined) throw new Error("Cannot sign without a key");
  return [first, ...others];
}

const edgeHasOwnKey =
  "EDGE_SIGNING_PUBLIC_KEYS: one of them is the public half of a key of the origin. Make a key for the edge alone.";

function describe({ kid, x }: Pick<SigningKey, "kid" | "x">, purpose: AnswerKeyPurpose): PublicKey {
  return { kty: "OKP", crv: "Ed25519", kid, x, use: "sig", alg: "EdDSA", purpose };
}

/** A key of the edge: it signs what the edge makes of the origin's documents, and the tokens in that. */
function describeEdge(x: string): PublicKey[] {
  const kid = thumbprintOf(x);
  const keys = [
    describe({ kid, x }, "responses"),
    describe({ kid: kid.slice(0, tokenKidLength), x }, "tokens"),
  ];
  return keys.map((key) => ({ ...key, delegated_to: "edge" }));
}
