import { readFileSync } from "node:fs";
import { isPublicationKey, type PublicKeySet } from "@trendvault/contract/keys";

/** The public keys of writers, as text (a JWK set, RFC 7517) or in a file, which is read each time it is needed. */
export type KeySetting = { text: string } | { file: string };

/** The keys of purpose `publications`. @throws Error that says what was expected */
export function readKeys(setting: KeySetting): PublicKeySet {
  const name = "file" in setting ? `FOLLOW_JWKS_FILE: ${setting.file}` : "FOLLOW_JWKS";
  const text = "file" in setting ? readText(setting.file) : setting.text;
  const keys = parseKeys(text).filter(isPublicationKey);
  if (keys.length > 0) return { keys };
  throw new Error(
    `${name}: expected a JWK set with a key whose purpose is publications, as writer publication-keys prints it`,
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`FOLLOW_JWKS_FILE: cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function parseKeys(text: string): PublicKeySet["keys"] {
  try {
    const { keys } = JSON.parse(text) as PublicKeySet;
    return keys.filter(({ kty, crv, kid, x }) => kty === "OKP" && crv === "Ed25519" && Boolean(kid && x));
  } catch {
    return []; // no JSON, or none of that form
  }
}
