import { type PublicKeySet, toBase64url } from "@trendvault/contract/keys";
import { type TokenList, tokenListName, verifyToken } from "@trendvault/contract/token";
import type { TrendingPage } from "../../generated/types.gen.ts";
import { VerificationError } from "./verification-error.ts";

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

/** Null for a page that says that it is of both a category and a language. */
async function nameInTokens({ category, language }: TrendingPage): Promise<string | null> {
  if (category !== null && language !== undefined) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category ?? ""));
  const choice = { category: category ?? undefined, language };
  return tokenListName(choice, () => toBase64url(new Uint8Array(digest)));
}
