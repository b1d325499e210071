import { type KeyRing, parseKeyRing } from "@trendvault/contract/key-ring";
import type { PublicKeySet } from "@trendvault/contract/response-signature";

export type Settings = {
  originUrl: URL;
  edgeKeys: KeyRing;
  originKeys: PublicKeySet;
  originDeadlineSeconds: number;
  originPauseSeconds: number;
  lastResortSeconds: number;
};

type SettingName =
  | "ORIGIN_URL"
  | "EDGE_KEYS"
  | "ORIGIN_JWKS"
  | "ORIGIN_DEADLINE_SECONDS"
  | "ORIGIN_PAUSE_SECONDS"
  | "LAST_RESORT_SECONDS";

/** Reads the Worker's variables and secrets. Throws an Error that names every bad one and what was expected. */
export function readSettings(env: { readonly [name in SettingName]?: string }): Settings {
  const problems: string[] = [];
  const read = <T>(name: SettingName, parse: (text: string) => T): T => {
    try {
      return parse(env[name] ?? "");
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
      return undefined as T; // never returned: the problems are thrown first
    }
  };
  const settings = {
    originUrl: read("ORIGIN_URL", parseOriginUrl),
    edgeKeys: read("EDGE_KEYS", parseKeyRing),
    originKeys: read("ORIGIN_JWKS", parseKeySet),
    originDeadlineSeconds: read("ORIGIN_DEADLINE_SECONDS", parseSeconds),
    originPauseSeconds: read("ORIGIN_PAUSE_SECONDS", parseSeconds),
    lastResortSeconds: read("LAST_RESORT_SECONDS", parseSeconds),
  };
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return settings;
}

function parseOriginUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "") return url;
  throw new Error("expected an http or https URL without a path, like https://origin.example.com");
}

function parseKeySet(text: string): PublicKeySet {
  const expected = "expected the JSON of the origin's /.well-known/jwks.json, with an Ed25519 key";
  let keySet: PublicKeySet;
  try {
    keySet = JSON.parse(text) as PublicKeySet;
  } catch {
    throw new Error(expected);
  }
  const usable = keySet.keys?.some(({ kty, crv, kid, x }) => kty === "OKP" && crv === "Ed25519" && kid && x);
  if (!usable) throw new Error(expected);
  return keySet;
}

function parseSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new Error("expected seconds, more than 0 and at most 86400, like 2.5");
}
