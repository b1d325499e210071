import { isPublicationKey, type PublicKeySet } from "@trendvault/contract/keys";
import { readSettingFile } from "../../src/key-files.ts";

/**
 * The keys of purpose `publications` in a JWK set (RFC 7517), or in the file of `file:PATH`, which is read each time
 * they are needed. @throws Error that says what was expected
 */
export function readKeys(setting: string): PublicKeySet {
  const path = setting.startsWith("file:") ? setting.slice("file:".length) : null;
  const keys = parseKeys(path === null ? setting : readText(path)).filter(isPublicationKey);
  if (keys.length > 0) return { keys };
  throw new Error(
    `FOLLOW_JWKS${path === null ? "" : `=${setting}`}: expected a JWK set with a key whose purpose is publications, as writer publication-keys prints it`,
  );
}

function readText(path: string): string {
  try {
    return readSettingFile(path);
  } catch (error) {
    throw new Error(`FOLLOW_JWKS: ${(error as Error).message}`);
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
