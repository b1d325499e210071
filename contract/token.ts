import { fromBase64url, isKeyFor, isSignedBy, type PublicKeySet, toBase64url } from "./keys.ts";
import { kindOf, type ListChoice, listLengths, listName, type Window, windows } from "./lists.ts";

/**
 * The page of a list that a token names. It has `count` ranks after `offset`; ranks of removed videos are among them.
 * `category` is the list's name: "" for all categories together, `#` with a hash for one whose name is too long for a
 * token, and `#language:de` for the list of a language, or such as `#language:live=now`.
 */
export type TokenList = {
  region: string;
  window: Window;
  category: string;
  generation: number;
  offset: number;
  count: number;
};

const longestCategoryBytes = 100; // of JSON text: what is left of 400 characters
const subjectPattern =
  /^([A-Z]{2})\/([a-z]+)\/(.*)\/([1-9][0-9]{0,14})\/(0|[1-9][0-9]{0,3})\+(0|[1-9][0-9]?)$/su;

/** `region/window/category/generation/offset+count`; a category may have slashes, the other parts have none. */
function writeTokenSubject(list: TokenList): string {
  const { region, window, category, generation, offset, count } = list;
  return `${region}/${window}/${category}/${generation}/${offset}+${count}`;
}

/** Reads a subject, or null when it names no page that there can be. */
function readTokenSubject(subject: string): TokenList | null {
  const match = subjectPattern.exec(subject);
  if (match === null) return null;
  const [, region = "", window = "", category = "", ...numbers] = match;
  const [generation = 0, offset = 0, count = 0] = numbers.map(Number);
  const list = { region, window: window as Window, category, generation, offset, count };
  return isPossible(list) ? list : null;
}

// Any region: who verifies a token of another's site does not know which regions that has.
function isPossible({ window, category, offset, count }: TokenList): boolean {
  const longest = listLengths.longest[category === "" ? "all" : "category"];
  return (
    windows.includes(window) &&
    isShort(category) &&
    count <= listLengths.largestPage &&
    offset + count <= longest
  );
}

/**
 * A category as tokens name it: itself, or `#` with 22 characters of the base64url of the SHA-256 of its UTF-8, when
 * it is too long or begins with `#`.
 */
function tokenCategory(category: string, sha256Base64url: (text: string) => string): string {
  const isPlain = isShort(category) && !category.startsWith("#");
  return isPlain ? category : `#${sha256Base64url(category).slice(0, 22)}`;
}

/** A list's name in tokens: that of one by kind can be no category's, which `#` and a hash stand for. */
export function tokenListName(choice: ListChoice, sha256Base64url: (text: string) => string): string {
  return kindOf(choice) === null ? tokenCategory(choice.category ?? "", sha256Base64url) : listName(choice);
}

function isShort(category: string): boolean {
  return new TextEncoder().encode(JSON.stringify(category)).length - 2 <= longestCategoryBytes;
}

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
type VerifiedToken = { verdict: "valid"; claims: TokenClaims };

const tokenType = "tv+jwt"; // explicit, so that no other JWT of the same key is taken for one (RFC 8725, 3.11)
const tokenLifetimeSeconds = 900;
/** The signer's clock may be ahead of the verifier's by so much. */
const tokenLeewaySeconds = 60;
export const longestToken = 400;

const minuteSeconds = 60;
const signatureBytes = 64; // RFC 8032, section 5.1.6
const encoder = new TextEncoder();

/** Whole minutes since 1970: all lists that are served within one have the same token. */
export function tokenMinute(milliseconds: number): number {
  return Math.floor(milliseconds / (minuteSeconds * 1000));
}

/** The claims of a list that is served in a minute. */
export function claimsOf(list: TokenList, minute: number): TokenClaims {
  const issuedAt = minute * minuteSeconds;
  return { issuedAt, expiresAt: issuedAt + tokenLifetimeSeconds, list };
}

/** The text that is signed (RFC 7515, section 5.1), and the token that a signature of it makes. */
export function unsignedToken(
  claims: TokenClaims,
  kid: string,
): { input: string; write: (signature: Uint8Array) => string } {
  const input = tokenSigningInput(claims, kid);
  return { input, write: (signature) => formatToken(input, signature) };
}

function tokenSigningInput({ issuedAt, expiresAt, list }: TokenClaims, kid: string): string {
  const header = JSON.stringify({ alg: "EdDSA", kid, typ: tokenType });
  const payload = JSON.stringify({ iat: issuedAt, exp: expiresAt, sub: writeTokenSubject(list) });
  return `${toBase64url(encoder.encode(header))}.${toBase64url(encoder.encode(payload))}`;
}

function formatToken(signingInput: string, signature: Uint8Array): string {
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
  const key = keys.keys.find((candidate) => candidate.kid === kid && isKeyFor("tokens", candidate));
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
function readToken(token: string): ReadToken | null {
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
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }); // the origin needs none, and starts sooner
    return (JSON.parse(decoder.decode(bytes)) as Record<string, unknown> | null) ?? {};
  } catch {
    return {}; // not UTF-8, or not JSON
  }
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
