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
  expect(settings.originUrl.href).toBe("https://origin.example.com/");
  expect(settings.originTimeoutSeconds).toBe(2.5);
  expect([...settings.edgeKeys.keys()]).toEqual(["e1"]);
});

const counting = {
  ...good,
  ORIGIN_JWKS: jwks({}, { kid: "t1", purpose: "tokens" }),
  VIEWS_KEYS: `v1:${"D".repeat(43)}`,
  VIEWS: { getByName: () => null },
  VIEWS_RATE_LIMITER: { limit: () => null },
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
  ["ORIGIN_JWKS", good.ORIGIN_JWKS],
  ["ORIGIN_JWKS", jwks({}, { purpose: "publications" })],
])("for counting %s is not %p", (name, value) => {
  expect(() => readSettings({ ...counting, [name]: value })).toThrow(new RegExp(`^${name}: `, "m"));
});

test("keys of purposes that this version does not know are passed over", () => {
  const keys = jwks({ purpose: "publications" }, { purpose: "new" }, {});
  expect(readSettings({ ...good, ORIGIN_JWKS: keys }).originKeys.keys).toHaveLength(3);
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

test.each([
  ["ORIGIN_DEADLINE_SECONDS", "ORIGIN_TIMEOUT_SECONDS"],
  ["ORIGIN_PAUSE_SECONDS", "ORIGIN_BACKOFF_SECONDS"],
  ["LAST_RESORT_SECONDS", "FALLBACK_INTERVAL_SECONDS"],
  ["LAST_RESORT", "FALLBACK"],
  ["MISSES", "MISS_RATE_LIMITER"],
])("%s, when it is still set, stops the start and names %s", (oldName, newName) => {
  const { [newName]: value, ...others } = good as Record<string, unknown>;
  expect(() => readSettings({ ...good, [oldName]: value })).toThrow(
    `${oldName} is now ${newName}: rename it.`,
  );
  expect(() => readSettings({ ...others, [oldName]: value })).toThrow(
    `${oldName} is now ${newName}: rename it.`,
  );
});
