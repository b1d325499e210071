import type { KVNamespace } from "@cloudflare/workers-types";
import { type KeyRing, parseKeyRing } from "@trendvault/contract/key-ring";
import {
  isResponseKey,
  isTokenKey,
  type PublicKey,
  type PublicKeySet,
} from "@trendvault/contract/public-keys";
import { mostShards } from "@trendvault/contract/view-limits";
import { parseJson } from "./rules/parse-json.ts";
import type { ShardNamespace } from "./views/view-shards.ts";

/** What was expected of a value, or null when it is right. */
type Check = (value: unknown) => string | null;

const seconds = text(isSeconds, "expected seconds, more than 0 and at most 86400, like 2.5");

/** The Worker's variables, secrets and bindings; wrangler.toml says what each is for. */
const checks = {
  ORIGIN_URL: text(
    isOriginUrl,
    "expected an http or https URL without a path, like https://origin.example.com",
  ),
  ORIGIN_JWKS: text(
    (json) => hasKey(json, isResponseKey),
    "expected the JSON of the origin's /.well-known/jwks.json, with an Ed25519 key that signs responses",
  ),
  EDGE_KEYS: keyRingError,
  ORIGIN_TIMEOUT_SECONDS: seconds,
  ORIGIN_BACKOFF_SECONDS: seconds,
  FALLBACK_INTERVAL_SECONDS: seconds,
  FALLBACK: binding("get", "expected a KV namespace: see [[kv_namespaces]] in wrangler.toml"),
  MISS_RATE_LIMITER: binding("limit", "expected a rate limiter: see [[ratelimits]] in wrangler.toml"),
} satisfies Record<string, Check>;

/** The same for counting views. Without VIEWS_KEYS there is no counting, and none of them is looked at. */
const viewChecks = {
  VIEWS_KEYS: keyRingError,
  VIEWS: binding("getByName", "expected Durable Objects: see [[durable_objects.bindings]] in wrangler.toml"),
  VIEWS_RATE_LIMITER: binding("limit", "expected a rate limiter: see [[ratelimits]] in wrangler.toml"),
  VIEWS_SHARDS: text(isShardCount, `expected a whole number from 1 to ${mostShards}`),
  VIEWS_BATCH_SECONDS: text(isBatchTime, "expected seconds, at most 10, like 1 or 0.5"),
  ORIGIN_JWKS: text(
    (json) => hasKey(json, isTokenKey),
    'expected a key with the purpose "tokens", too, to verify tokens with',
  ),
} satisfies Record<string, Check>;

type Settings = Record<Exclude<keyof typeof checks, "FALLBACK">, string> & { FALLBACK: KVNamespace } & Record<
    Exclude<keyof typeof viewChecks, "VIEWS">,
    string
  > & { VIEWS: ShardNamespace };

/** What counting needs of the settings. */
export type ViewSettings = {
  pullKeys: KeyRing;
  tokenKeys: PublicKeySet;
  shards: ShardNamespace;
  shardsPerRegion: number;
  batchSeconds: number;
};

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
  const data = env as Settings;
  const isCounting = (data.VIEWS_KEYS ?? "") !== "";
  const bad = [...Object.entries(checks), ...(isCounting ? Object.entries(viewChecks) : [])].flatMap(
    ([name, check]) => {
      const expected = check(data[name as keyof Settings]);
      return expected === null ? [] : [`${name}: ${expected}`];
    },
  );
  if (renamed.length + bad.length > 0) throw new Error([...renamed, ...bad].join("\n"));
  return {
    originUrl: new URL(data.ORIGIN_URL),
    originKeys: JSON.parse(data.ORIGIN_JWKS) as PublicKeySet,
    edgeKeys: parseKeyRing(data.EDGE_KEYS),
    originTimeoutSeconds: Number(data.ORIGIN_TIMEOUT_SECONDS),
    originBackoffSeconds: Number(data.ORIGIN_BACKOFF_SECONDS),
    fallbackIntervalSeconds: Number(data.FALLBACK_INTERVAL_SECONDS),
    fallback: data.FALLBACK,
    views: isCounting ? readViewSettings(data) : null,
  };
}

function readViewSettings(data: Settings): ViewSettings {
  return {
    pullKeys: parseKeyRing(data.VIEWS_KEYS),
    tokenKeys: JSON.parse(data.ORIGIN_JWKS),
    shards: data.VIEWS,
    shardsPerRegion: Number(data.VIEWS_SHARDS),
    batchSeconds: Number(data.VIEWS_BATCH_SECONDS),
  };
}

function text(isValid: (text: string) => boolean, expected: string): Check {
  return (value) => (typeof value === "string" && isValid(value) ? null : expected);
}

function binding(method: string, expected: string): Check {
  return (value) => (typeof (value as Record<string, unknown>)?.[method] === "function" ? null : expected);
}

function isSeconds(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number(text) <= 86_400;
}

function isShardCount(text: string): boolean {
  return /^[1-9]\d?$/.test(text) && Number(text) <= mostShards;
}

function isBatchTime(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) <= 10;
}

function isOriginUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
}

function hasKey(text: string, isWanted: (key: PublicKey) => boolean): boolean {
  const keys = (parseJson(text) as Partial<PublicKeySet> | null)?.keys;
  return keys?.some?.((key) => isEd25519(key) && isWanted(key)) ?? false;
}

function isEd25519({ kty, crv, kid, x }: PublicKey): boolean {
  return kty === "OKP" && crv === "Ed25519" && Boolean(kid && x);
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
