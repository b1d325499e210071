import { fromBase64url, toBase64url } from "./base64url.ts";
import { isSignedBy, isTokenKey, type PublicKeySet } from "./public-keys.ts";
import { readTokenSubject, type TokenList, writeTokenSubject } from "./token-subject.ts";

/**
 * The token of a list: a compact JWS (RFC 7515) with EdDSA over Ed25519 (RFC 8037), the same for everybody. It says
 * which list was served, when, and for how long others may take that as recent:
 *
 *     header   {"alg":"EdDSA","kid":"Ab3_x-9Z","typ":"tv+jwt"}
 *     payload  {"iat":1795176000,"exp":1795176900,"sub":"GB/day//4711/0+24"}
 *
 * Any JOSE library verifies it with the keys of /.well-known/jwks.json. We write it in one form only, and take no other.
 */
export type TokenClaims = {
  /** Unix time in seconds: the minute in which the list was served. */
  issuedAt: number;
  /** Unix time in seconds. */
  expiresAt: number;
  list: TokenList;
};

export type TokenVerdict = "valid" | "malformed" | "unknown-key" | "tampered" | "not-yet-valid" | "expired";

/** What a valid token says. */
export type VerifiedToken = { verdict: "valid"; claims: TokenClaims };

export const tokenType = "tv+jwt"; // explicit, so that no other JWT of the same key is taken for one (RFC 8725, 3.11)
export const tokenLifetimeSeconds = 900;
/** The signer's clock may be ahead of the verifier's by so much. */
const tokenLeewaySeconds = 60;
export const longestToken = 400;

const minuteSeconds = 60;
const signatureBytes = 64; // RFC 8032, section 5.1.6
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Whole minutes since 1970: all lists that are served within one have the same token. */
export function tokenMinute(milliseconds: number): number {
  return Math.floor(milliseconds / (minuteSeconds * 1000));
}

/** The claims of a list that is served in a minute. */
export function claimsOf(list: TokenList, minute: number): TokenClaims {
  const issuedAt = minute * minuteSeconds;
  return { issuedAt, expiresAt: issuedAt + tokenLifetimeSeconds, list };
}

/** The text that is signed (RFC 7515, section 5.1). */
export function tokenSigningInput({ issuedAt, expiresAt, list }: TokenClaims, kid: string): string {
  const header = JSON.stringify({ alg: "EdDSA", kid, typ: tokenType });
  const payload = JSON.stringify({ iat: issuedAt, exp: expiresAt, sub: writeTokenSubject(list) });
  return `${toBase64url(encoder.encode(header))}.${toBase64url(encoder.encode(payload))}`;
}

export function formatToken(signingInput: string, signature: Uint8Array): string {
  return `${signingInput}.${toBase64url(signature)}`;
}

/**
 * Verifies a token at `now` (Unix seconds). `acceptedSeconds` is how long after it was issued it is taken: the token's
 * own lifetime, unless the caller has a reason to take it for longer.
 */
export async function verifyToken(
  token: string,
  keys: PublicKeySet,
  { now, acceptedSeconds = tokenLifetimeSeconds }: { now: number; acceptedSeconds?: number },
): Promise<VerifiedToken | { verdict: Exclude<TokenVerdict, "valid"> }> {
  const read = readToken(token);
  if (read === null) return { verdict: "malformed" };
  const { claims, kid, signingInput, signature } = read;
  const key = keys.keys.find((candidate) => candidate.kid === kid && isTokenKey(candidate));
  if (key === undefined) return { verdict: "unknown-key" };
  if (!(await isSignedBy(key, signingInput, signature))) return { verdict: "tampered" };
  if (now < claims.issuedAt - tokenLeewaySeconds) return { verdict: "not-yet-valid" };
  const isFresh = now <= claims.issuedAt + acceptedSeconds; // false without a clock (NaN), too
  return isFresh ? { verdict: "valid", claims } : { verdict: "expired" };
}

type ReadToken = {
  claims: TokenClaims;
  kid: string;
  signingInput: string;
  signature: Uint8Array<ArrayBuffer>;
};

/** Takes a token apart, or null when it is malformed. The signature is not verified. */
export function readToken(token: string): ReadToken | null {
  if (token.length > longestToken) return null;
  const [headerText = "", payloadText = "", signatureText = ""] = token.split(".");
  const { kid } = readObject(headerText);
  const { iat, exp, sub } = readObject(payloadText);
  const signature = fromBase64url(signatureText);
  if (typeof kid !== "string" || typeof sub !== "string" || signature?.length !== signatureBytes) return null;
  const list = readTokenSubject(sub);
  if (list === null || !isTime(iat) || !isTime(exp)) return null;
  const claims = { issuedAt: iat, expiresAt: exp, list };
  const signingInput = tokenSigningInput(claims, kid);
  // Other spellings of the same claims, and other members, are no token of ours.
  return formatToken(signingInput, signature) === token ? { claims, kid, signingInput, signature } : null;
}

function readObject(text: string): Record<string, unknown> {
  const bytes = fromBase64url(text);
  if (bytes === null) return {};
  try {
    return (JSON.parse(decoder.decode(bytes)) as Record<string, unknown> | null) ?? {};
  } catch {
    return {}; // not UTF-8, or not JSON
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
