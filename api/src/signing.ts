import {
  type AnswerKeyPurpose,
  type PublicKey,
  type PublicKeySet,
  pkcs8OfSeed,
  toBase64url,
} from "@trendvault/contract/keys";

/** Signs bytes with one ed25519 key (RFC 8032). */
type KeySigner = {
  /** The key's JWK thumbprint (RFC 7638). */
  thumbprint: string;
  /** The public half: `x` of a JWK (RFC 8037). */
  x: string;
  /** Signs in another thread. */
  sign(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
};

/**
 * A signer from a seed of 32 bytes. Through WebCrypto: node:crypto would take 6 ms of the start, and 4 MB.
 */
export async function keySigner(seed: Uint8Array): Promise<KeySigner> {
  const pkcs8 = pkcs8OfSeed(seed);
  const isExtractable = true; // the public half is read from it
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", isExtractable, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", key);
  return {
    thumbprint: thumbprintOf(x),
    x,
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, bytes)),
  };
}

/** The JWK thumbprint (RFC 7638) of a public key by its `x`. */
function thumbprintOf(x: string): string {
  const canonical = `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`;
  return toBase64url(new Bun.CryptoHasher("sha256").update(canonical).digest());
}

/** What the origin signs with: a key for the signatures of responses (RFC 9421), another one for tokens (RFC 7515). */
export type SigningKeys = Record<AnswerKeyPurpose, SigningKey> & {
  publicKeys: PublicKeySet;
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
  const [responses, tokens] = await Promise.all([
    signersOf(seeds.responses, ({ thumbprint }) => thumbprint),
    signersOf(seeds.tokens, ({ thumbprint }) => thumbprint.slice(0, tokenKidLength)),
  ]);
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
