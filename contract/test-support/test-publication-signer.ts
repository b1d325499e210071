import { type PublicKey, pkcs8OfSeed, toBase64url } from "../keys.ts";
import {
  bundlePointerSigningInput,
  formatPointer,
  pointerSigningInput,
  type UnsignedBundlePointer,
  type UnsignedPointer,
} from "../pointer.ts";

type Pointed<Unsigned> = Omit<Unsigned, "kid" | "store"> & { store?: string };

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
  signPointer(pointer: Pointed<UnsignedPointer>): Promise<Uint8Array<ArrayBuffer>> {
    return this.sign(pointerSigningInput({ store: testStoreName, ...pointer, kid: this.publicKey.kid }));
  }

  signBundlePointer(pointer: Pointed<UnsignedBundlePointer>): Promise<Uint8Array<ArrayBuffer>> {
    return this.sign(
      bundlePointerSigningInput({ store: testStoreName, ...pointer, kid: this.publicKey.kid }),
    );
  }

  /** A document of any text, for what no writer signs. */
  async sign(signingInput: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new TextEncoder().encode(signingInput);
    const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", this.#privateKey, bytes));
    return new TextEncoder().encode(formatPointer(signingInput, signature));
  }
}
