import { entityTag } from "@trendvault/contract/http";
import {
  isKeyFor,
  type PublicKey,
  type PublicKeySet,
  pkcs8OfSeed,
  toBase64url,
} from "@trendvault/contract/keys";
import type { ListChoice } from "@trendvault/contract/lists";
import { edgeLifetimes } from "@trendvault/contract/lists";
import { unencodedDigest } from "@trendvault/contract/response-signature";
import { signatureOver } from "@trendvault/contract/signature-base";
import {
  claimsOf,
  type TokenList,
  tokenListName,
  tokenMinute,
  unsignedToken,
} from "@trendvault/contract/token";
import type { CanonicalRequest } from "./policy.ts";
import { readAnswer, type SignedAnswer, utf8 } from "./signed-answer.ts";

/** What is to be signed. `lifetimes`: the value of TrendVault-Cache-Control. */
type UnsignedDocument = { status: 200 | 404; contentType: string; body: string; lifetimes: string };

const tokenKidLength = 8; // of a thumbprint, as at the origin

/**
 * Signs what the edge makes itself, with a key that the origin's own key set names. Documents and tokens have one key:
 * the texts that are signed differ in their first character.
 */
export class DocumentSigner {
  /** How the origin's key set names the key. */
  readonly responseKey: PublicKey;
  readonly tokenKey: PublicKey;
  readonly #privateKey: CryptoKey;

  private constructor(privateKey: CryptoKey, x: string, thumbprint: string) {
    this.#privateKey = privateKey;
    const key = { kty: "OKP", crv: "Ed25519", x, use: "sig", alg: "EdDSA", delegated_to: "edge" } as const;
    this.responseKey = { ...key, kid: thumbprint, purpose: "responses" };
    this.tokenKey = { ...key, kid: thumbprint.slice(0, tokenKidLength), purpose: "tokens" };
  }

  /** `seed`: 32 bytes (RFC 8032). */
  static async create(seed: Uint8Array): Promise<DocumentSigner> {
    const pkcs8 = pkcs8OfSeed(seed);
    const isExtractable = true; // the public half is read from it
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", isExtractable, ["sign"]);
    const { x = "" } = (await crypto.subtle.exportKey("jwk", key)) as { x?: string };
    const canonical = new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`); // RFC 7638
    const thumbprint = toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", canonical)));
    return new DocumentSigner(key, x, thumbprint);
  }

  /** Whether a key set of the origin names this key, for responses and for tokens. */
  isNamedIn({ keys }: PublicKeySet): boolean {
    const { responseKey, tokenKey } = this;
    const isNamed = (own: PublicKey, purpose: "responses" | "tokens") =>
      keys.some((key) => key.kid === own.kid && key.x === own.x && isKeyFor(purpose, key));
    return isNamed(responseKey, "responses") && isNamed(tokenKey, "tokens");
  }

  /** The token of a list that was served at a time (Unix seconds). */
  async signToken(list: TokenList, servedAt: number): Promise<string> {
    const claims = claimsOf(list, tokenMinute(servedAt * 1000));
    const { input, write } = unsignedToken(claims, this.tokenKey.kid);
    return write(await this.#sign(input));
  }

  /** A document as the answer to a request, signed at a time (Unix seconds), and read as the origin's are. */
  async signDocument(
    { status, contentType, body, lifetimes }: UnsignedDocument,
    { canonical, now }: { canonical: CanonicalRequest; now: number },
  ): Promise<SignedAnswer> {
    const bytes = utf8(body);
    const fields = {
      "content-type": contentType,
      "unencoded-digest": await unencodedDigest(bytes),
      etag: entityTag(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))),
      "content-location": canonical.target,
      [edgeLifetimes.field]: lifetimes,
    };
    const created = Math.floor(now);
    const parameters = { created, keyid: this.responseKey.kid, alg: "ed25519" } as const;
    const { base, write } = signatureOver({ status, fields }, parameters);
    const headers = new Headers({ ...fields, ...write(await this.#sign(base)) });
    // As the origin's own: a joined key set is served, too, though nobody takes it as the origin's word.
    const { delegated_to: _, ...key } = this.responseKey;
    const reader = { canonical, keys: { keys: [key] }, now };
    const answer = await readAnswer({ status, headers, body: bytes }, reader);
    if (typeof answer === "string") throw new Error(`Cannot sign a document: ${answer}`);
    return answer;
  }

  async #sign(text: string): Promise<Uint8Array> {
    const bytes = new TextEncoder().encode(text);
    return new Uint8Array(await crypto.subtle.sign("Ed25519", this.#privateKey, bytes));
  }
}

/** A list's name in tokens: that of a category, of which a long one is a hash, or by kind. */
export async function listInTokens(choice: ListChoice): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(choice.category));
  const text = toBase64url(new Uint8Array(digest));
  return tokenListName(choice, () => text);
}
