import { type PublicKeySet, toBase64url } from "../keys.ts";
import { formatToken, type TokenClaims, tokenSigningInput } from "../token.ts";

/** Signs tokens in tests as the origin does, with a key of its own. */
export class TestTokenSigner {
  readonly publicKeys: PublicKeySet;
  readonly #privateKey: CryptoKey;
  readonly #kid: string;

  private constructor(privateKey: CryptoKey, kid: string, x: string) {
    this.#privateKey = privateKey;
    this.#kid = kid;
    this.publicKeys = {
      keys: [{ kty: "OKP", crv: "Ed25519", kid, x, use: "sig", alg: "EdDSA", purpose: "tokens" }],
    };
  }

  static async create(kid = "tokenKey"): Promise<TestTokenSigner> {
    const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const x = toBase64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
    return new TestTokenSigner(pair.privateKey, kid, x);
  }

  async sign(claims: TokenClaims): Promise<string> {
    const input = tokenSigningInput(claims, this.#kid);
    const bytes = new TextEncoder().encode(input);
    return formatToken(input, new Uint8Array(await crypto.subtle.sign("Ed25519", this.#privateKey, bytes)));
  }
}
