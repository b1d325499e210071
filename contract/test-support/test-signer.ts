import { toBase64url } from "../base64url.ts";
import { type PublicKeySet, unencodedDigest } from "../response-signature.ts";
import { serializeParameters, signatureBase } from "../signature-base.ts";

/** Signs responses in tests as the origin does, with a key of its own. */
export class TestSigner {
  readonly publicKeys: PublicKeySet;
  readonly keyPair: CryptoKeyPair;
  readonly #kid: string;

  private constructor(keyPair: CryptoKeyPair, kid: string, x: string) {
    this.keyPair = keyPair;
    this.#kid = kid;
    this.publicKeys = { keys: [{ kty: "OKP", crv: "Ed25519", kid, x }] };
  }

  static async create(kid = "s1"): Promise<TestSigner> {
    const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const x = toBase64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
    return new TestSigner(pair, kid, x);
  }

  /** The covered fields of a 200 with this body, and their signature. `created` is Unix time in seconds. */
  async sign(
    body: string | Uint8Array<ArrayBuffer>,
    { etag = '"abc"', contentType = "application/json", created = 1 } = {},
  ): Promise<Record<string, string>> {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const digest = await unencodedDigest(new Uint8Array(bytes));
    const fields = { "content-type": contentType, "unencoded-digest": digest, etag };
    const parameters = serializeParameters({ created, keyid: this.#kid, alg: "ed25519" });
    const base = new TextEncoder().encode(signatureBase({ status: 200, fields }, parameters));
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", this.keyPair.privateKey, base));
    return {
      ...fields,
      "signature-input": `tv=${parameters}`,
      signature: `tv=:${signature.toBase64()}:`,
    };
  }
}
