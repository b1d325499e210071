import type { KVNamespace, RateLimit } from "@cloudflare/workers-types";
import { parseKeyRing } from "@trendvault/contract/key-ring";
import type { PublicKeySet } from "@trendvault/contract/response-signature";
import * as z from "zod/mini";
import { parseJson } from "./rules/parse-json.ts";

const expected = {
  originUrl: "expected an http or https URL without a path, like https://origin.example.com",
  keySet: "expected the JSON of the origin's /.well-known/jwks.json, with an Ed25519 key",
  keyRing: "expected the origin's EDGE_KEYS, like e1:<base64url of 32 bytes>",
  seconds: "expected seconds, more than 0 and at most 86400, like 2.5",
  kvNamespace: "expected a KV namespace; bind one in wrangler.toml under [[kv_namespaces]]",
  rateLimiter: "expected a rate limiter; bind one in wrangler.toml under [[ratelimits]]",
};

const Seconds = z.pipe(
  z.string({ error: expected.seconds }).check(z.regex(/^\d+(\.\d+)?$/, { error: expected.seconds })),
  z.pipe(
    z.transform(Number),
    z.number().check(z.gt(0, { error: expected.seconds }), z.lte(86_400, { error: expected.seconds })),
  ),
);

/** The Worker's variables, secrets and bindings; wrangler.toml says what each is for. */
const SettingsSchema = z.object({
  ORIGIN_URL: z.pipe(
    z.string({ error: expected.originUrl }).check(z.refine(isOriginUrl, { error: expected.originUrl })),
    z.transform((text) => new URL(text)),
  ),
  ORIGIN_JWKS: z.pipe(
    z.pipe(z.string({ error: expected.keySet }), z.transform(parseJson)),
    z.custom<PublicKeySet>(hasEd25519Key, { error: expected.keySet }),
  ),
  EDGE_KEYS: z.pipe(z.string({ error: expected.keyRing }), z.transform(toKeyRing)),
  ORIGIN_TIMEOUT_SECONDS: Seconds,
  ORIGIN_BACKOFF_SECONDS: Seconds,
  FALLBACK_INTERVAL_SECONDS: Seconds,
  FALLBACK: z.custom<KVNamespace>(hasMethod("get"), { error: expected.kvNamespace }),
  MISS_RATE_LIMITER: z.custom<RateLimit>(hasMethod("limit"), { error: expected.rateLimiter }),
});

export type Settings = z.infer<typeof SettingsSchema>;

const newNames = {
  ORIGIN_DEADLINE_SECONDS: "ORIGIN_TIMEOUT_SECONDS",
  ORIGIN_PAUSE_SECONDS: "ORIGIN_BACKOFF_SECONDS",
  LAST_RESORT_SECONDS: "FALLBACK_INTERVAL_SECONDS",
  LAST_RESORT: "FALLBACK",
  MISSES: "MISS_RATE_LIMITER",
};

/** Reads the settings. Throws an Error with a line for each bad or renamed one that says what was expected. */
export function readSettings(env: object): Settings {
  const renamed = Object.entries(newNames)
    .filter(([oldName]) => oldName in env)
    .map(([oldName, newName]) => `${oldName} is now ${newName}: rename it.`);
  const parsed = SettingsSchema.safeParse(env);
  const bad = parsed.error?.issues.map(({ path, message }) => `${String(path[0])}: ${message}`) ?? [];
  if (parsed.success && renamed.length === 0) return parsed.data;
  throw new Error([...renamed, ...bad].join("\n"));
}

function isOriginUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "";
}

function hasEd25519Key(value: unknown): boolean {
  const { keys } = (value ?? {}) as Partial<PublicKeySet>;
  return keys?.some?.(({ kty, crv, kid, x }) => kty === "OKP" && crv === "Ed25519" && kid && x) ?? false;
}

function toKeyRing(text: string, context: { issues: z.core.$ZodRawIssue[] }) {
  try {
    return parseKeyRing(text);
  } catch (error) {
    context.issues.push({ code: "custom", message: (error as Error).message, input: "(secret)" });
    return z.NEVER;
  }
}

function hasMethod(name: string): (value: unknown) => boolean {
  return (value) => typeof (value as Record<string, unknown> | undefined)?.[name] === "function";
}
