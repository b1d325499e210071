import { toBase64url } from "@trendvault/contract/base64url";
import { tokenCategory } from "@trendvault/contract/token-subject";

/** A category as tokens name it: itself, or a hash of a long name. */
export async function categoryInTokens(category: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category));
  const text = toBase64url(new Uint8Array(digest));
  return tokenCategory(category, () => text);
}
