import type { KVNamespace, RateLimit } from "@cloudflare/workers-types";
import { parseKeyRing } from "@trendvault/contract/key-ring";
import type { PublicKeySet } from "@trendvault/contract/response-signature";
import * as z from "zod/mini";
import { parseJson } from "./rules/parse-json.ts";

const seconds = text(isSeconds, "expected seconds, more than 0 and at most 86400, like 2.5");

/** The Worker's variables, secrets and bindings; wrangler.toml says what each is for. */
const Environment = z.object({
  ORIGIN_URL: text(
    isOriginUrl,
    "expected an http or https URL without a path, like https://origin.example.com",
  ),
  ORIGIN_JWKS: text(
    hasEd25519Key,
    "expected the JSON of the origin's /.well-known/jwks.json, with an Ed25519 key",
  ),
  EDGE_KEYS: z.custom<string>((value) => keyRingError(value) === null, {
    error: ({ input }) => keyRingError(input) ?? "",
  }),
  ORIGIN_TIMEOUT_SECONDS: seconds,
  ORIGIN_BACKOFF_SECONDS: seconds,
  FALLBACK_INTERVAL_SECONDS: seconds,
  FALLBACK: binding<KVNamespace>("get", "expected a KV namespace: see [[kv_namespaces]] in wrangler.toml"),
  MISS_RATE_LIMITER: binding<RateLimit>(
    "limit",
    "expected a rate limiter: see [[ratelimits]] in wrangler.toml",
  ),
});

const newNames = {
  ORIGIN_DEADLINE_SECONDS: "ORIGIN_TIMEOUT_SECONDS",
  ORIGIN_PAUSE_SECONDS: "ORIGIN_BACKOFF_SECONDS",
  LAST_RESORT_SECONDS: "FALLBACK_INTERVAL_SECONDS",
  LAST_RESORT: "FALLBACK",
  MISSES: "MISS_RATE_LIMITER",
};

/** Reads the settings. Throws an Error with a line for each bad or renamed one that says what was expected. */
export function readSettings(env: object) {
  const renamed = Object.entries(newNames)
    .filter(([oldName]) => oldName in env)
    .map(([oldName, newName]) => `${oldName} is now ${newName}: rename it.`);
  const { data, error } = Environment.safeParse(env);
  const bad = error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? [];
  if (data === undefined || renamed.length > 0) throw new Error([...renamed, ...bad].join("\n"));
  return {
    originUrl: new URL(data.ORIGIN_URL),
    originKeys: JSON.parse(data.ORIGIN_JWKS) as PublicKeySet,
    edgeKeys: parseKeyRing(data.EDGE_KEYS),
    originTimeoutSeconds: Number(data.ORIGIN_TIMEOUT_SECONDS),
    originBackoffSeconds: Number(data.ORIGIN_BACKOFF_SECONDS),
    fallbackIntervalSeconds: Number(data.FALLBACK_INTERVAL_SECONDS),
    fallback: data.FALLBACK,
  };
}

function text(isValid: (text: string) => boolean, error: string) {
  return z.custom<string>((value) => typeof value === "string" && isValid(value), { error });
}

function binding<T>(method: string, error: string) {
  return z.custom<T>((value) => typeof (value as Record<string, unknown>)?.[method] === "function", {
    error,
  });
}

function isSeconds(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number(text) <= 86_400;
}

function isOriginUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
}

function hasEd25519Key(text: string): boolean {
  const keys = (parseJson(text) as Partial<PublicKeySet> | null)?.keys;
  return keys?.some?.(({ kty, crv, kid, x }) => kty === "OKP" && crv === "Ed25519" && kid && x) ?? false;
}

// Never quotes the keys: they are secret.
function keyRingError(value: unknown): string | null {
  try {
    parseKeyRing(String(value ?? ""));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
