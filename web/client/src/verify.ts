import { type PublicKeySet, toBase64url } from "@trendvault/contract/keys";
import {
  answerSeconds,
  clockSkewSeconds,
  defaultWindow,
  edgeLifetimes,
  isFromFuture,
  type ListKind,
  listKinds,
  listLengths,
} from "@trendvault/contract/lists";
import { paths } from "@trendvault/contract/paths";
import { type SignatureVerdict, verifySignature } from "@trendvault/contract/response-signature";
import type { TrendingPage } from "@trendvault/contract/responses";
import { type TokenList, type TokenVerdict, tokenListName, verifyToken } from "@trendvault/contract/token";
import type { Answer } from "./connection.ts";

export type { PublicKey, PublicKeySet } from "@trendvault/contract/keys";
export { type SignatureVerdict, verifyResponse } from "@trendvault/contract/response-signature";
export type { TokenList } from "@trendvault/contract/token";
export { type TokenClaims, type TokenVerdict, verifyToken } from "@trendvault/contract/token";
export type { Answer, Check } from "./connection.ts";

/**
 * Why an answer is not to be used: what its signature or its token said, or `other-question`: it is signed as the
 * answer to another address, or `outdated`: it was signed longer ago than any cache may keep it.
 */
export type Refusal =
  | Exclude<SignatureVerdict, "valid">
  | Exclude<TokenVerdict, "valid">
  | "other-question"
  | "other-list"
  | "outdated";

/** An answer that is not certainly the origin's. */
export class VerificationError extends Error {
  override readonly name = "VerificationError";

  constructor(readonly refusal: Refusal) {
    super(`Cannot verify the answer: ${refusal}`);
  }
}

type VerifierOptions = {
  /** The address of the edge or the origin. Default: the site of the page. */
  baseUrl?: string;
  /** The keys, where they are known beforehand. Default: those at /.well-known/jwks.json of `baseUrl`. */
  keys?: PublicKeySet;
  /** Fetches the keys in place of fetch(). */
  fetch?: (address: string) => Promise<Response>;
};

/**
 * Makes the check that connect() takes as `verify`: an answer is the origin's (RFC 9421, Unencoded-Digest), it is the
 * answer to what was asked (Content-Location), and it is no older than the signed lifetimes allow. It throws a
 * VerificationError for any other answer, and whatever fetching the keys threw.
 */
export function createVerifier({
  baseUrl = "",
  keys,
  fetch = (address) => globalThis.fetch(address),
}: VerifierOptions = {}): (answer: Answer) => Promise<void> {
  const address = baseUrl.replace(/\/+$/, "") + paths.publicKeys;
  const source = keys === undefined ? fetchedKeys(address, fetch) : pinnedKeys(keys);
  return async (answer) => {
    const { fields, created } = await verifiedWith(source, withStrongEntityTag(answer));
    if (!isAnswerTo(answer.url, fields["content-location"])) throw new VerificationError("other-question");
    const now = Date.now() / 1000;
    const isOld = now - created > longestAgeSeconds(fields[edgeLifetimes.field]);
    if (isOld || isFromFuture(created, now)) throw new VerificationError("outdated");
  };
}

/** How long after it was signed the edge takes an answer of the origin (edge-worker/src/origin.ts). */
const deliverySeconds = 15 * 60;

async function verifiedWith(source: KeySource, answer: Answer) {
  const verified = await verifySignature(answer, await source.read());
  const again =
    verified.verdict === "unknown-key" ? await verifySignature(answer, await source.renew()) : verified;
  if (again.verdict !== "valid") throw new VerificationError(again.verdict);
  return again;
}

// A proxy that compresses the answer weakens its entity tag; the signature is over the origin's, which is strong.
function withStrongEntityTag(answer: Answer): Answer {
  const headers = new Headers(answer.headers);
  headers.set("etag", (headers.get("etag") ?? "").replace(/^W\//, ""));
  return { ...answer, headers };
}

/** Freshness and the longer of the two times after it, like "max-age=120, stale-while-revalidate=600". */
function longestAgeSeconds(lifetimes: string): number {
  const secondsOf = (name: string) => Number(new RegExp(`\\b${name}=(\\d+)`).exec(lifetimes)?.[1] ?? 0);
  const stale = Math.max(secondsOf("stale-while-revalidate"), secondsOf("stale-if-error"));
  return clockSkewSeconds + deliverySeconds + secondsOf("max-age") + stale;
}

/** Where the public keys come from. */
type KeySource = {
  /** The keys that are known. */
  read(): Promise<PublicKeySet>;
  /** The keys as they are now, when an answer names one that is not known; at most once a minute. */
  renew(): Promise<PublicKeySet>;
};

const renewalSeconds = 60;
/** As long as the edge may serve a key set: a key that was taken out of it is not believed for much longer. */
const keptSeconds = answerSeconds.fresh + answerSeconds.stale;

/** The keys at an address, kept for twelve minutes. A fetch that failed is done again by the next read. */
function fetchedKeys(address: string, fetch: (address: string) => Promise<Response>): KeySource {
  let known: Promise<PublicKeySet> | null = null;
  let fetchedAt = 0;
  const fetchKeys = () => {
    fetchedAt = Date.now();
    const keys = readKeys(fetch(address));
    known = keys;
    keys.catch(() => {
      if (known === keys) known = null;
    });
    return keys;
  };
  const isOlderThan = (seconds: number) => Math.abs(Date.now() - fetchedAt) >= seconds * 1000; // or was the clock set back?
  const read = () => (known === null || isOlderThan(keptSeconds) ? fetchKeys() : known);
  return { read, renew: () => (isOlderThan(renewalSeconds) ? fetchKeys() : read()) };
}

/** Keys that the caller has. */
function pinnedKeys(keys: PublicKeySet): KeySource {
  return { read: async () => keys, renew: async () => keys };
}

async function readKeys(answer: Promise<Response>): Promise<PublicKeySet> {
  const response = await answer;
  if (!response.ok) throw new Error(`Cannot read the public keys: status ${response.status}`);
  const { keys } = (await response.json()) as Partial<PublicKeySet>;
  if (!Array.isArray(keys)) throw new Error("Cannot read the public keys: no JWK set (RFC 7517)");
  return { keys };
}

const defaults = new Map([
  ["window", defaultWindow],
  ["limit", String(listLengths.defaultPage)],
]);

/**
 * Whether the signed Content-Location, which is the canonical address of an answer, is that of what was asked. Without a
 * region in the question, that of the answer is the visitor's and may be any.
 */
function isAnswerTo(url: string, contentLocation: string): boolean {
  const asked = new URL(url);
  const answered = new URL(contentLocation, asked.origin);
  if (answered.origin !== asked.origin || !isSamePath(asked.pathname, answered.pathname)) return false;
  const expected = withoutDefaults(asked.searchParams);
  const given = withoutDefaults(answered.searchParams);
  if (!expected.has("region")) given.delete("region");
  return expected.size === given.size && [...expected].every(([name, value]) => given.get(name) === value);
}

/** An edge below a path of another site has a prefix of its own, and a client may have escaped a colon. */
function isSamePath(asked: string, answered: string): boolean {
  return decodeURI(asked).replaceAll("%3A", ":").endsWith(answered);
}

function withoutDefaults(parameters: URLSearchParams): Map<string, string> {
  const pairs = [...parameters].map(([name, value]): [string, string] => [
    name,
    name === "region" ? value.toUpperCase() : value,
  ]);
  return new Map(pairs.filter(([name, value]) => defaults.get(name) !== value));
}

/**
 * Verifies the token of a page that came without its signature, from a partner for example: that we served the page of
 * this list, generation and these ranks in the last 15 minutes. The token does not cover the items. `now` is Unix time
 * in seconds.
 *
 * @throws VerificationError when the token is another's, too old, or that of another page
 */
export async function verifyPageToken(
  page: TrendingPage,
  keys: PublicKeySet,
  now = Date.now() / 1000,
): Promise<void> {
  const verified = await verifyToken(page.token, keys, { now });
  if (verified.verdict !== "valid") throw new VerificationError(verified.verdict);
  if (!(await isTokenOf(verified.claims.list, page))) throw new VerificationError("other-list");
}

async function isTokenOf(
  { category, offset, count, ...list }: TokenList,
  page: TrendingPage,
): Promise<boolean> {
  return (
    list.region === page.region &&
    list.window === page.window &&
    list.generation === page.generation &&
    category === (await nameInTokens(page)) &&
    // Ranks of removed videos are counted, but are not on the page.
    page.items.every(({ rank }) => rank > offset && rank <= offset + count)
  );
}

/** Null for a page that says that it is of a category and a kind, or of two. */
async function nameInTokens({ category, ...page }: TrendingPage): Promise<string | null> {
  const kinds = Object.keys(listKinds).filter((kind) => page[kind as ListKind] !== undefined);
  if (kinds.length > (category === null ? 1 : 0)) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category ?? ""));
  const choice = { ...page, category: category ?? undefined };
  return tokenListName(choice, () => toBase64url(new Uint8Array(digest)));
}
