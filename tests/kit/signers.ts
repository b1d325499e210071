import { type PublicKey, type PublicKeySet, pkcs8OfSeed, toBase64url } from "@trendvault/contract/keys";
import { edgeLifetimes } from "@trendvault/contract/lists";
import type { BundlePointer, Pointer } from "@trendvault/contract/pointer";
import { unencodedDigest } from "@trendvault/contract/response-signature";
import { type SignatureFields, type SignedFields, signatureOver } from "@trendvault/contract/signature-base";
import { type TokenClaims, unsignedToken } from "@trendvault/contract/token";

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
      lifetimes = edgeLifetimes.answer as string,
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
      [edgeLifetimes.field]: lifetimes,
    };
    const { base, write } = signatureOver({ status, fields }, { created, keyid: this.#kid, alg: "ed25519" });
    const text = new TextEncoder().encode(base);
    const signature = await crypto.subtle.sign("Ed25519", this.keyPair.privateKey, text);
    return { ...fields, ...write(new Uint8Array(signature)) };
  }
}

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
    const { input, write } = unsignedToken(claims, this.#kid);
    const bytes = new TextEncoder().encode(input);
    return write(new Uint8Array(await crypto.subtle.sign("Ed25519", this.#privateKey, bytes)));
  }
}

/** What of a pointer is signed, but for its version. */
export type Unsigned<Kind> = Omit<Kind, "version" | "signature">;
type Pointed<Kind> = Omit<Unsigned<Kind>, "kid" | "store"> & { store?: string };

/** What TestStore's writers call their store. */
export const testStoreName = "trendvault/lists";

/** Signs pointers in tests as a writer does, with the key of a seed (32 bytes). */
export class TestPublicationSigner {
  readonly publicKey: PublicKey;
  readonly #privateKey: CryptoKey;

  private constructor(privateKey: CryptoKey, publicKey: PublicKey) {
    this.#privateKey = privateKey;
    this.publicKey = publicKey;
  }

  static async create(seed = crypto.getRandomValues(new Uint8Array(32))): Promise<TestPublicationSigner> {
    const pkcs8 = pkcs8OfSeed(seed);
    const privateKey = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
    const { x = "" } = await crypto.subtle.exportKey("jwk", privateKey);
    const canonical = new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`); // RFC 7638
    const thumbprint = toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", canonical)));
    const kid = thumbprint.slice(0, 8);
    const purpose = "publications";
    const publicKey = { kty: "OKP", crv: "Ed25519", kid, x, use: "sig", alg: "EdDSA", purpose } as const;
    return new TestPublicationSigner(privateKey, publicKey);
  }

  /** The document, as bytes of a store. */
  signPointer({ file, previous, ...pointer }: Pointed<Pointer>): Promise<Uint8Array<ArrayBuffer>> {
    const { sha256, bytes } = file;
    const before = previous && { generation: previous.generation, sha256: previous.sha256 };
    return this.#sign("pointer", pointer, { file: { sha256, bytes }, previous: before });
  }

  signBundlePointer({ bundle, ...pointer }: Pointed<BundlePointer>): Promise<Uint8Array<ArrayBuffer>> {
    const { sha256, bytes, index_bytes, index_sha256 } = bundle;
    return this.#sign("bundle pointer", pointer, { bundle: { sha256, bytes, index_bytes, index_sha256 } });
  }

  /** The members in their order, in a text that begins with which document it is (contract/pointer.ts). */
  #sign(
    kind: string,
    { store = testStoreName, generation, published_at }: Omit<Pointed<Pointer>, "file" | "previous">,
    object: object,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { kid } = this.publicKey;
    const document = JSON.stringify({ version: 2, store, generation, published_at, ...object, kid });
    return this.sign(`trendvault ${kind} v2\n${document.slice(0, -1)}`);
  }

  /** A document of any text, for what no writer signs. */
  async sign(signingInput: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new TextEncoder().encode(signingInput);
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", this.#privateKey, bytes));
    const unsigned = signingInput.slice(signingInput.indexOf("\n") + 1);
    return new TextEncoder().encode(`${unsigned},"signature":"${toBase64url(signature)}"}`);
  }
}
