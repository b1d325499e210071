import { type KeyRing, signingKey } from "@trendvault/contract/key-ring";
import { formatToken, type TokenClaims, tokenPayload } from "@trendvault/contract/token";

export type SignToken = (claims: Omit<TokenClaims, "kid">) => string;

/** Signs without waiting: WebCrypto, which the contract uses, would make every build asynchronous. */
export function tokenSigner(ring: KeyRing): SignToken {
  const { kid, key } = signingKey(ring);
  const keyed = new Bun.CryptoHasher("sha256", key);
  return (claims) => {
    const payload = tokenPayload({ kid, ...claims });
    return formatToken(payload, keyed.copy().update(payload).digest("base64url"));
  };
}
