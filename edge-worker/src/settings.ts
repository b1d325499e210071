import { parseKeyRing } from "@trendvault/contract/key-ring";
import type { PublicKeySet } from "@trendvault/contract/response-signature";
import { parseJson } from "./parse-json.ts";

/** The Worker's variables and secrets; wrangler.toml says what each is for. */
const parsers = {
  ORIGIN_URL: parseOriginUrl,
  ORIGIN_JWKS: parseKeySet,
  EDGE_KEYS: parseKeyRing,
  ORIGIN_DEADLINE_SECONDS: parseSeconds,
  ORIGIN_PAUSE_SECONDS: parseSeconds,
  LAST_RESORT_SECONDS: parseSeconds,
};

type Name = keyof typeof parsers;
export type Settings = { readonly [name in Name]: ReturnType<(typeof parsers)[name]> };

/** Reads the settings. Throws an Error that names every bad one and says what was expected. */
export function readSettings(env: { readonly [name in Name]?: string }): Settings {
  const settings: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of Object.keys(parsers) as Name[]) {
    try {
      settings[name] = parsers[name](env[name] ?? "");
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return settings as Settings;
}

function parseOriginUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "") return url;
  throw new Error("expected an http or https URL without a path, like https://origin.example.com");
}

function parseKeySet(text: string): PublicKeySet {
  const keySet = parseJson(text) as PublicKeySet | null;
  const usable = keySet?.keys?.some(({ kty, crv, kid, x }) => kty === "OKP" && crv === "Ed25519" && kid && x);
  if (keySet !== null && usable) return keySet;
  throw new Error("expected the JSON of the origin's /.well-known/jwks.json, with an Ed25519 key");
}

function parseSeconds(text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new Error("expected seconds, more than 0 and at most 86400, like 2.5");
}
