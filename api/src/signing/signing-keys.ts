import type { AnswerKeyPurpose, PublicKey, PublicKeySet } from "@trendvault/contract/public-keys";
import { type KeySigner, keySigner } from "./key-signer.ts";

/** What the origin signs with: a key for the signatures of responses (RFC 9421), another one for tokens (RFC 7515). */
export type SigningKeys = Record<AnswerKeyPurpose, SigningKey> & {
  publicKeys: PublicKeySet;
  /** Loads what signing at once needs. */
  prepare(): void;
};

type SigningKey = KeySigner & { kid: string };

const tokenKidLength = 8; // of a thumbprint: each token repeats it

/**
 * The first seed of each purpose signs. The keys of the others stay published, for what was signed before a change of
 * keys. @throws Error when two keys have the same id
 */
export async function createSigningKeys(seeds: Record<AnswerKeyPurpose, Uint8Array[]>): Promise<SigningKeys> {
  const responses = await signersOf(seeds.responses, ({ thumbprint }) => thumbprint);
  const tokens = await signersOf(seeds.tokens, ({ thumbprint }) => thumbprint.slice(0, tokenKidLength));
  const described = [
    ...responses.map((key) => describe(key, "responses")),
    ...tokens.map((key) => describe(key, "tokens")),
  ];
  return {
    responses: responses[0],
    tokens: tokens[0],
    publicKeys: { keys: described },
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

function describe({ kid, x }: SigningKey, purpose: AnswerKeyPurpose): PublicKey {
  return { kty: "OKP", crv: "Ed25519", kid, x, use: "sig", alg: "EdDSA", purpose };
}
