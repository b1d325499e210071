import { type PublicKeySet, toBase64url } from "../keys.ts";
import { answerLifetimes, lifetimesField } from "../lists.ts";
import { unencodedDigest } from "../response-signature.ts";
import {
  type SignatureFields,
  type SignedFields,
  serializeParameters,
  signatureBase,
  signatureFields,
} from "../signature-base.ts";

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

  /** The covered fields of a response with this body, and their signature. `created` is Unix time in seconds. */
  async sign(
    body: string | Uint8Array<ArrayBuffer>,
    {
      status = 200,
      etag = '"abc"',
      contentType = "application/json",
      location = "/api/trending?region=DE",
      lifetimes = answerLifetimes,
      created = 1,
    } = {},
  ): Promise<SignedFields & SignatureFields> {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const digest = await unencodedDigest(new Uint8Array(bytes));
    const fields = {
      "content-type": contentType,
      "unencoded-digest": digest,
      etag,
      "content-location": location,
      [lifetimesField]: lifetimes,
    };
    const parameters = serializeParameters({ created, keyid: this.#kid, alg: "ed25519" });
    const base = new TextEncoder().encode(signatureBase({ status, fields }, parameters));
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", this.keyPair.privateKey, base));
    return { ...fields, ...signatureFields(parameters, signature) };
  }
}
