import { expect, test } from "bun:test";
import { readSettings } from "./settings.ts";

function jwks(...keys: object[]): string {
  return JSON.stringify({
    keys: keys.map((key) => ({ kty: "OKP", crv: "Ed25519", kid: "s1", x: "AAAA", ...key })),
  });
}

const good = {
  ORIGIN_URL: "https://origin.example.com",
  ORIGIN_JWKS: jwks({}),
  EDGE_KEYS: `e1:${"B".repeat(43)}`,
  ORIGIN_TIMEOUT_SECONDS: "2.5",
  ORIGIN_BACKOFF_SECONDS: "5",
  FALLBACK_INTERVAL_SECONDS: "600",
  FALLBACK: { get: () => null },
  MISS_RATE_LIMITER: { limit: () => null },
};

test("good settings are read", () => {
  const settings = readSettings(good);
  expect(settings.origin?.url.href).toBe("https://origin.example.com/");
  expect(settings.timeoutSeconds).toBe(2.5);
  expect([...(settings.origin?.edgeKeys.keys() ?? [])]).toEqual(["e1"]);
  expect(settings.bundles).toBeNull();
});

const counting = {
  ...good,
  ORIGIN_JWKS: jwks({}, { kid: "t1", purpose: "tokens" }),
  VIEWS_KEYS: `v1:${"D".repeat(43)}`,
  VIEWS: { getByName: () => null },
  VIEWS_RATE_LIMITER: { limit: () => null },
  VIEWS_TOKEN_RATE_LIMITER: { limit: () => null },
  VIEWS_NETWORK_RATE_LIMITER: { limit: () => null },
  VIEWS_SHARDS: "3",
  VIEWS_BATCH_SECONDS: "0.5",
};

test("counting is on with VIEWS_KEYS, and without it nothing about it is looked at", () => {
  expect(readSettings(good).views).toBeNull();
  expect(readSettings({ ...good, VIEWS_KEYS: "", VIEWS_SHARDS: "many" }).views).toBeNull();
  expect(readSettings(counting).views).toMatchObject({ shardsPerRegion: 3, batchSeconds: 0.5 });
});

test.each([
  ["VIEWS_KEYS", "v1:short"],
  ["VIEWS_SHARDS", "0"],
  ["VIEWS_SHARDS", "65"],
  ["VIEWS_BATCH_SECONDS", "11"],
  ["VIEWS_BATCH_SECONDS", "-1"],
  ["VIEWS", undefined],
  ["VIEWS_RATE_LIMITER", undefined],
  ["VIEWS_TOKEN_RATE_LIMITER", undefined],
  ["VIEWS_NETWORK_RATE_LIMITER", undefined],
  ["ORIGIN_JWKS", good.ORIGIN_JWKS],
  ["ORIGIN_JWKS", jwks({}, { purpose: "publications" })],
])("for counting %s is not %p", (name, value) => {
  expect(() => readSettings({ ...counting, [name]: value })).toThrow(new RegExp(`^${name}: `, "m"));
});

test("keys of purposes that this version does not know are passed over", () => {
  const keys = jwks({ purpose: "publications" }, { purpose: "new" }, {});
  expect(readSettings({ ...good, ORIGIN_JWKS: keys }).originKeys.keys).toHaveLength(3);
});

const key = (kid: string, purpose: string) => ({ kty: "OKP", crv: "Ed25519", kid, x: "AAAA", purpose });
const keySet = (...purposes: string[]) =>
  JSON.stringify({ keys: purposes.map((purpose, n) => key(`k${n}`, purpose)) });
const bundles = {
  ...good,
  ORIGIN_JWKS: keySet("responses", "publications"),
  BUNDLES: { get: () => null },
  BUNDLE_PREFIX: "lists/2026",
  BUNDLE_NAMES: "trendvault/lists/2026",
  EDGE_SIGNING_KEY: `${"B".repeat(42)}A`,
};
const { EDGE_KEYS: _, FALLBACK: __, ...withoutOrigin } = { ...bundles, ORIGIN_URL: "" };

test("bundles are read where the bucket is bound and a key for publications is known, and else nothing about them", () => {
  const stores = [{ prefix: "lists/2026", name: "trendvault/lists/2026" }];
  expect(readSettings(bundles).bundles).toMatchObject({ bucket: bundles.BUNDLES, stores });
  const two = { ...bundles, BUNDLE_PREFIX: "gb,lists/de", BUNDLE_NAMES: "trendvault/gb,shop" };
  expect(readSettings(two).bundles?.stores).toEqual([
    { prefix: "gb", name: "trendvault/gb" },
    { prefix: "lists/de", name: "shop" },
  ]);
  expect(readSettings(bundles).bundles?.signingSeed).toHaveLength(32);
  const whole = { ...bundles, EDGE_SIGNING_KEY: "", BUNDLE_PREFIX: undefined, BUNDLE_NAMES: "trendvault" };
  expect(readSettings(whole).bundles).toMatchObject({
    stores: [{ prefix: "", name: "trendvault" }],
    signingSeed: null,
  });
  expect(readSettings({ ...bundles, FALLBACK: undefined }).fallback).toBeNull();
  const bad = { BUNDLE_PREFIX: "/", BUNDLE_NAMES: "", EDGE_SIGNING_KEY: "short" };
  const unused = { ...bundles, ...bad, ORIGIN_JWKS: good.ORIGIN_JWKS };
  expect(readSettings(unused).bundles).toBeNull();
});

test("without an origin neither keys for its requests nor KV are needed", () => {
  const settings = readSettings(withoutOrigin);
  expect([settings.origin, settings.fallback]).toEqual([null, null]);
  expect(settings.bundles).not.toBeNull();
});

test.each([
  ["BUNDLES", { list: () => null }],
  ["BUNDLE_PREFIX", "/lists"],
  ["BUNDLE_PREFIX", "lists/"],
  ["BUNDLE_PREFIX", "gb,"],
  ["BUNDLE_PREFIX", "gb, de"],
  ["BUNDLE_PREFIX", "gb,gb"],
  ["BUNDLE_NAMES", undefined],
  ["BUNDLE_NAMES", "gb,de"],
  ["BUNDLE_NAMES", "s3://trendvault/lists"],
  ["EDGE_SIGNING_KEY", "e1:short"],
  ["EDGE_SIGNING_KEY", "A".repeat(43)],
  ["FALLBACK", "fallback"],
  ["ORIGIN_JWKS", keySet("responses")],
  ["ORIGIN_JWKS", keySet("publications", "tokens")],
])("without an origin %s=%p is refused by name, with what was expected", (name, value) => {
  expect(() => readSettings({ ...withoutOrigin, [name]: value })).toThrow(
    new RegExp(`^${name}: expected`, "m"),
  );
});

test("ORIGIN_URL may be empty only where a bucket is bound", () => {
  expect(() => readSettings({ ...good, ORIGIN_URL: "" })).toThrow(
    /^ORIGIN_URL: expected .*only with BUNDLES$/m,
  );
});

test("a key that the origin delegates to the edge is none that its responses may be signed with", () => {
  const keys = [key("s1", "responses"), { ...key("s2", "responses"), delegated_to: "edge" }];
  const settings = readSettings({ ...good, ORIGIN_JWKS: JSON.stringify({ keys }) });
  expect(settings.originKeys.keys.map(({ kid }) => kid)).toEqual(["s1"]);
});

test("everything that is missing is named at once", () => {
  for (const name of Object.keys(good))
    expect(() => readSettings({})).toThrow(new RegExp(`^${name}: .*(expected|key id)`, "m"));
});

test.each([
  ["ORIGIN_URL", "origin.example.com"],
  ["ORIGIN_URL", "https://origin.example.com/api"],
  ["ORIGIN_URL", "ftp://origin.example.com"],
  ["ORIGIN_JWKS", "https://origin.example.com/.well-known/jwks.json"],
  ["ORIGIN_JWKS", '{"keys":[]}'],
  ["ORIGIN_JWKS", '{"keys":[{"kty":"RSA","kid":"s1","n":"AAAA"}]}'],
  ["ORIGIN_JWKS", jwks({ purpose: "tokens" }, { purpose: "publications" })],
  ["EDGE_KEYS", "e1:short"],
  ["EDGE_KEYS", `e1:${"A".repeat(43)}`],
  ["ORIGIN_TIMEOUT_SECONDS", "0"],
  ["ORIGIN_BACKOFF_SECONDS", "5 s"],
  ["ORIGIN_BACKOFF_SECONDS", "0x10"],
  ["ORIGIN_BACKOFF_SECONDS", "86401"],
  ["FALLBACK_INTERVAL_SECONDS", "-1"],
  ["FALLBACK", undefined],
  ["FALLBACK", "fallback"],
  ["MISS_RATE_LIMITER", {}],
])("%s=%s is refused by name, with what was expected", (name, value) => {
  expect(() => readSettings({ ...good, [name]: value })).toThrow(new RegExp(`^${name}: .*`));
});

test("a secret is not quoted when it is bad", () => {
  const secret = "e1:this-is-my-secret";
  expect(() => readSettings({ ...good, EDGE_KEYS: secret })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("my-secret") }),
  );
});
