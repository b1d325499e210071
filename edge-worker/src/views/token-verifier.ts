import type { PublicKeySet } from "@trendvault/contract/keys";
import { viewsAcceptedSeconds } from "@trendvault/contract/lists";
import { type TokenClaims, type TokenVerdict, verifyToken } from "@trendvault/contract/token";
import { LruMap } from "../cache/lru-map.ts";

const remembered = 1024;

/** Verifies the tokens of messages. A token is the same for everybody, so that most were verified before. */
export class TokenVerifier {
  readonly #keys: PublicKeySet | Promise<PublicKeySet>;
  readonly #clock: () => number;
  readonly #verified = new LruMap<TokenClaims>(remembered);

  /** `clock` gives Unix seconds. */
  constructor(keys: PublicKeySet | Promise<PublicKeySet>, clock: () => number) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /** What a token says, or why it is refused. */
  async verify(token: string): Promise<TokenClaims | Exclude<TokenVerdict, "valid">> {
    const now = this.#clock();
    const known = this.#verified.get(token);
    if (known !== null) return now <= known.issuedAt + viewsAcceptedSeconds ? known : "expired";
    const result = await verifyToken(token, await this.#keys, { now, acceptedSeconds: viewsAcceptedSeconds });
    if (result.verdict !== "valid") return result.verdict;
    this.#verified.set(token, result.claims);
    return result.claims;
  }
}
