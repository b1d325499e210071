import type { KVNamespace, R2Bucket } from "@cloudflare/workers-types";
import {
  fromBase64url,
  isKeyFor,
  isOneByteRepeated,
  type KeyRing,
  type PublicKey,
  type PublicKeySet,
  parseKeyRing,
} from "@trendvault/contract/keys";
import { isStoreName } from "@trendvault/contract/pointer";
import { viewLimits } from "@trendvault/contract/views";
import { parseJson } from "./signed-answer.ts";
import type { ViewShards } from "./view-shards.ts";

/** What was expected of a value, or null when it is right. */
type Check = (value: unknown) => string | null;
type Checks = Record<string, Check>;

const seconds = text(isSeconds, "seconds, more than 0 and at most 86400, like 2.5");

const rateLimiter = binding("limit", "a rate limiter: see [[ratelimits]]");
const kvNamespace = binding("get", "a KV namespace: see [[kv_namespaces]]");

/** The Worker's variables, secrets and bindings; wrangler.toml says what each is for. */
const checks = {
  ORIGIN_URL: text(
    isOriginUrl,
    "an http or https URL without a path, like https://origin.example.com; nothing only with BUNDLES",
  ),
  ORIGIN_JWKS: text(
    (json) => hasKey(json, "responses"),
    "the origin's /.well-known/jwks.json, with an Ed25519 key that signs responses",
  ),
  EDGE_KEYS: keyRingError,
  ORIGIN_TIMEOUT_SECONDS: seconds,
  ORIGIN_BACKOFF_SECONDS: seconds,
  FALLBACK_INTERVAL_SECONDS: seconds,
  FALLBACK: kvNamespace,
  MISS_RATE_LIMITER: rateLimiter,
} satisfies Checks;

/** What each store is called, in the order of BUNDLE_PREFIX. */
function storeNames({ BUNDLE_PREFIX }: Settings): Check {
  const count = (BUNDLE_PREFIX ?? "").split(",").length;
  return text((names) => {
    const all = names.split(",");
    return all.length === count && all.every(isStoreName);
  }, "for each of BUNDLE_PREFIX the writer's PUBLISH_URL without s3://, or its PUBLISH_NAME");
}

/** The same where bundles are read, in addition: where BUNDLES is bound and ORIGIN_JWKS has a key for publications. */
const bundleChecks = {
  BUNDLES: binding("get", "an R2 bucket: see [[r2_buckets]]"),
  BUNDLE_PREFIX: optional(
    text(
      arePrefixes,
      "what follows the bucket in the writer's PUBLISH_URL; of several writers each, like gb,de",
    ),
  ),
  EDGE_SIGNING_KEY: optional(text(isSeed, "32 random bytes as base64url")),
  FALLBACK: optional(kvNamespace),
} satisfies Checks;

/** And where there is no origin: ORIGIN_URL is empty. */
const onlyBundleChecks = {
  ORIGIN_URL: () => null,
  ORIGIN_JWKS: text(
    (json) => hasKey(json, "responses") && hasKey(json, "publications"),
    'a key set (JSON) with the origin\'s keys, and one with the purpose "publications"',
  ),
  EDGE_KEYS: () => null,
} satisfies Checks;

/** The same for counting views. Without VIEWS_KEYS there is no counting, and none of them is looked at. */
const viewChecks = {
  VIEWS_KEYS: keyRingError,
  VIEWS: binding("getByName", "Durable Objects: see [[durable_objects.bindings]]"),
  VIEWS_RATE_LIMITER: rateLimiter,
  VIEWS_TOKEN_RATE_LIMITER: rateLimiter,
  VIEWS_NETWORK_RATE_LIMITER: rateLimiter,
  VIEWS_SHARDS: text(isShardCount, `a whole number from 1 to ${viewLimits.shards}`),
  VIEWS_BATCH_SECONDS: text(isBatchTime, "seconds, at most 10, like 1 or 0.5"),
  ORIGIN_JWKS: text(
    (json) => hasKey(json, "tokens"),
    'a key with the purpose "tokens", too, to verify tokens with',
  ),
} satisfies Checks;

type Bindings = {
  FALLBACK?: KVNamespace;
  BUNDLES?: R2Bucket;
  VIEWS: ConstructorParameters<typeof ViewShards>[0];
};
type Name = keyof typeof checks | keyof typeof bundleChecks | keyof typeof viewChecks | "BUNDLE_NAMES";
type Settings = Record<Exclude<Name, keyof Bindings>, string> & Bindings;

/** What reading bundles needs of the settings. `signingSeed`: null where the edge signs nothing. */
type BundleSettings = {
  bucket: R2Bucket;
  stores: { prefix: string; name: string }[];
  signingSeed: Uint8Array | null;
};

/** What counting needs of the settings. */
type ViewSettings = {
  pullKeys: KeyRing;
  tokenKeys: PublicKeySet;
  shards: Bindings["VIEWS"];
  shardsPerRegion: number;
  batchSeconds: number;
};

/** Reads the settings. Throws an Error with a line for each bad one that says what was expected. */
export function readSettings(env: object) {
  const data = env as Settings;
  const bad = checksFor(data).flatMap(([name, check]) => {
    const expected = check(data[name as keyof Settings]);
    return expected === null ? [] : [`${name}: ${expected}`];
  });
  if (bad.length > 0) throw new Error(bad.join("\n"));
  const keys = JSON.parse(data.ORIGIN_JWKS) as PublicKeySet;
  return {
    origin: data.ORIGIN_URL === "" ? null : readOriginSettings(data),
    // What it delegates to the edge is signed by the edge, and never comes from the origin.
    originKeys: { keys: keys.keys.filter(({ delegated_to }) => delegated_to === undefined) },
    timeoutSeconds: Number(data.ORIGIN_TIMEOUT_SECONDS),
    backoffSeconds: Number(data.ORIGIN_BACKOFF_SECONDS),
    fallbackIntervalSeconds: Number(data.FALLBACK_INTERVAL_SECONDS),
    fallback: data.FALLBACK ?? null,
    bundles: readsBundles(data) ? readBundleSettings(data) : null,
    views: isCounting(data) ? readViewSettings(data) : null,
  };
}

/** The later check of a name replaces the earlier one, except that tokens need keys in any case. */
function checksFor(data: Settings): [string, Check][] {
  const required = {
    ...checks,
    ...((readsBundles(data) || hasNoOrigin(data)) && { ...bundleChecks, BUNDLE_NAMES: storeNames(data) }),
    ...(hasNoOrigin(data) && onlyBundleChecks),
  };
  return [...Object.entries(required), ...(isCounting(data) ? Object.entries(viewChecks) : [])];
}

function hasNoOrigin({ ORIGIN_URL, BUNDLES }: Settings): boolean {
  return ORIGIN_URL === "" && BUNDLES !== undefined;
}

function readsBundles({ BUNDLES, ORIGIN_JWKS }: Settings): boolean {
  return BUNDLES !== undefined && hasKey(ORIGIN_JWKS ?? "", "publications");
}

function isCounting({ VIEWS_KEYS }: Settings): boolean {
  return (VIEWS_KEYS ?? "") !== "";
}

function readOriginSettings({ ORIGIN_URL, EDGE_KEYS }: Settings) {
  return { url: new URL(ORIGIN_URL), edgeKeys: parseKeyRing(EDGE_KEYS) };
}

function readBundleSettings(data: Settings): BundleSettings {
  const { BUNDLES, BUNDLE_PREFIX, BUNDLE_NAMES, EDGE_SIGNING_KEY } = data;
  const signingSeed = EDGE_SIGNING_KEY ? fromBase64url(EDGE_SIGNING_KEY) : null;
  const names = BUNDLE_NAMES.split(",");
  const stores = (BUNDLE_PREFIX ?? "").split(",").map((prefix, at) => ({ prefix, name: names[at] ?? "" }));
  return { bucket: BUNDLES as R2Bucket, stores, signingSeed };
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
  return (value) => (typeof value === "string" && isValid(value) ? null : `expected ${expected}`);
}

function binding(method: string, expected: string): Check {
  const isBound = (value: unknown) => typeof (value as Record<string, unknown>)?.[method] === "function";
  return (value) => (isBound(value) ? null : `expected ${expected} in wrangler.toml`);
}

function optional(check: Check): Check {
  return (value) => (value === undefined || value === "" ? null : check(value));
}

function arePrefixes(text: string): boolean {
  const prefixes = text.split(",");
  const areValid = prefixes.every((prefix) => /^[\w.-]+(\/[\w.-]+)*$/.test(prefix));
  return areValid && new Set(prefixes).size === prefixes.length;
}

function isSeed(text: string): boolean {
  const seed = fromBase64url(text);
  return seed !== null && seed.length === 32 && !isOneByteRepeated(seed);
}

function isSeconds(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number(text) <= 86_400;
}

function isShardCount(text: string): boolean {
  return /^[1-9]\d?$/.test(text) && Number(text) <= viewLimits.shards;
}

function isBatchTime(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text) && Number(text) <= 10;
}

function isOriginUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
}

function hasKey(text: string, purpose: Parameters<typeof isKeyFor>[0]): boolean {
  const keys = (parseJson(text) as Partial<PublicKeySet> | null)?.keys;
  return keys?.some?.((key) => isEd25519(key) && isKeyFor(purpose, key)) ?? false;
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
