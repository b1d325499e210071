import type { PublicKeySet } from "@trendvault/contract/keys";
import { clockSkewSeconds, isFromFuture, lifetimesField } from "@trendvault/contract/lists";
import { publicKeysPath } from "@trendvault/contract/paths";
import { type VerifiedSignature, verifySignature } from "@trendvault/contract/response-signature";
import type { Answer } from "../requests/checked-send.ts";
import { isAnswerTo } from "./asked-question.ts";
import { fetchedKeys, type KeySource, pinnedKeys } from "./key-source.ts";
import { VerificationError } from "./verification-error.ts";

export type VerifierOptions = {
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
  const address = baseUrl.replace(/\/+$/, "") + publicKeysPath;
  const source = keys === undefined ? fetchedKeys(address, fetch) : pinnedKeys(keys);
  return async (answer) => {
    const { fields, created } = await verifiedWith(source, withStrongEntityTag(answer));
    if (!isAnswerTo(answer.url, fields["content-location"])) throw new VerificationError("other-question");
    const now = Date.now() / 1000;
    const isOld = now - created > longestAgeSeconds(fields[lifetimesField]);
    if (isOld || isFromFuture(created, now)) throw new VerificationError("outdated");
  };
}

/** How long after it was signed the edge takes an answer of the origin (edge-worker, validate-origin-response.ts). */
const deliverySeconds = 15 * 60;

async function verifiedWith(source: KeySource, answer: Answer): Promise<VerifiedSignature> {
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
