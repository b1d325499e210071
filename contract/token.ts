import { equalInConstantTime, hmacSha256 } from "./hmac.ts";
import { type KeyRing, signingKey } from "./key-ring.ts";

/**
 * The analytics token says: this list was served by us, for this region, about now.
 *
 *     v1.<kid>.<region>.<count>.<minute>.<mac>
 *
 * minute is Unix time / 60, whole; mac the first 22 characters of
 * base64url(HMAC-SHA-256(key[kid], everything before the last dot)). Nothing in it depends on the client.
 */
export type TokenClaims = { kid: string; region: string; count: number; minute: number };

export type TokenVerdict = "valid" | "malformed" | "unknown-key" | "tampered" | "not-yet-valid" | "expired";

/** A well-formed token taken apart. `payload` is the text that the mac covers. */
export type TokenParts = TokenClaims & { payload: string; mac: string };

/** A token is valid from 1 minute before its own minute (its signer's clock is ahead) to 15 minutes after it. */
export const tokenWindowMinutes = { ahead: 1, behind: 15 } as const;

const macLength = 22; // base64url characters: 132 bits
const tokenPattern =
  /^(v1\.([A-Za-z0-9]{1,16})\.([A-Z]{2})\.(0|[1-9][0-9]{0,2})\.([1-9][0-9]{0,9}))\.([A-Za-z0-9_-]{22})$/;

/** Whole minutes since 1970, the clock of the token. */
export function tokenMinute(milliseconds: number): number {
  return Math.floor(milliseconds / 60_000);
}

/** The text that the mac covers. */
export function tokenPayload(claims: TokenClaims): string {
  return `v1.${claims.kid}.${claims.region}.${claims.count}.${claims.minute}`;
}

/** A token from its payload and the payload's whole HMAC (base64url). */
export function formatToken(payload: string, hmac: string): string {
  return `${payload}.${hmac.slice(0, macLength)}`;
}

/** Takes a token apart, or null when it is malformed. The mac is not verified. */
export function readToken(token: string): TokenParts | null {
  const match = tokenPattern.exec(token);
  if (match === null) return null;
  const [, payload = "", kid = "", region = "", count = "", minute = "", mac = ""] = match;
  return { payload, kid, region, count: Number(count), minute: Number(minute), mac };
}

/** Validates a token against the HMAC (base64url) of its payload, at a minute. The mac comes first. */
export function validateToken(parts: TokenParts, against: { hmac: string; minute: number }): TokenVerdict {
  if (!equalInConstantTime(parts.mac, against.hmac.slice(0, macLength))) return "tampered";
  if (against.minute < parts.minute - tokenWindowMinutes.ahead) return "not-yet-valid";
  const isFresh = against.minute <= parts.minute + tokenWindowMinutes.behind; // false without a clock (NaN), too
  return isFresh ? "valid" : "expired";
}

/** A token with these claims. The first key of the ring signs. */
export async function signToken(claims: Omit<TokenClaims, "kid">, ring: KeyRing): Promise<string> {
  const { kid, key } = signingKey(ring);
  const payload = tokenPayload({ kid, ...claims });
  return formatToken(payload, await hmacSha256(key, payload));
}

/** Verifies with every key of the ring. `minute` is the verifier's clock: tokenMinute(Date.now()). */
export async function verifyToken(
  token: string,
  { ring, minute }: { ring: KeyRing; minute: number },
): Promise<TokenVerdict> {
  const parts = readToken(token);
  if (parts === null) return "malformed";
  const key = ring.get(parts.kid);
  if (key === undefined) return "unknown-key";
  return validateToken(parts, { hmac: await hmacSha256(key, parts.payload), minute });
}
