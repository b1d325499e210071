import { toBase64url } from "@trendvault/contract/keys";
import type { ListChoice } from "@trendvault/contract/lists";
import { tokenListName } from "@trendvault/contract/token";

/** A list's name in tokens: that of a category, of which a long one is a hash, or of a language. */
export async function listInTokens(choice: ListChoice): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(choice.category));
  const text = toBase64url(new Uint8Array(digest));
  return tokenListName(choice, () => text);
}
