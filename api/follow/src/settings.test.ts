import { expect, test } from "bun:test";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { readSettings } from "./settings.ts";

const key = { kty: "OKP", crv: "Ed25519", kid: "AAAAAAAA", x: "A".repeat(43), purpose: "publications" };
const good = {
  FOLLOW_URLS: "s3://bucket/lists, s3://bucket/others/",
  DB_PATH: "/srv/lists.db",
  S3_ENDPOINT_URL: "https://s3.example/",
  S3_ACCESS_KEY_ID: "id",
  S3_SECRET_ACCESS_KEY: "very secret",
  FOLLOW_JWKS: JSON.stringify({ keys: [key] }),
};

const nothing: Parameters<typeof readSettings>[0] = {
  stores: [],
  database: null,
  metrics: null,
  allowStale: false,
  once: false,
};

test("settings come from the environment, and the command line wins", () => {
  const settings = readSettings(nothing, good);
  expect(settings.stores.map(({ text }) => text)).toEqual(["s3://bucket/lists", "s3://bucket/others"]);
  expect(settings).toMatchObject({ database: "/srv/lists.db", retentionSeconds: 2700, maxAgeSeconds: 900 });
  expect(settings.s3).toMatchObject({ endpoint: "https://s3.example", region: "auto" });
  expect(settings.stores.map(({ name }) => name)).toEqual(["bucket/lists", "bucket/others"]);
  const line = { ...nothing, stores: ["/copy"], database: "x.db", once: true };
  const said = readSettings(line, { ...good, FOLLOW_NAMES: "lists/production" });
  expect(said.stores).toEqual([{ kind: "folder", text: "/copy", name: "lists/production" }]);
  expect(said).toMatchObject({ s3: null, database: "x.db", once: true });
});

test.each([
  [{ FOLLOW_URLS: undefined }, "FOLLOW_URLS: missing"],
  [{ FOLLOW_URLS: "s3://b" }, '"s3://b" is no store'],
  [{ FOLLOW_URLS: "s3://bucket/a//b" }, '"s3://bucket/a//b" is no store'],
  [{ FOLLOW_URLS: "s3://bucket/a,s3://bucket/a/" }, "s3://bucket/a is named twice"],
  [{ FOLLOW_URLS: "/copy" }, "/copy has no name of its own: expected PUBLISH_NAME"],
  [{ FOLLOW_NAMES: "one" }, "FOLLOW_NAMES: expected a name for each of 2 stores"],
  [{ FOLLOW_NAMES: "one,t w o" }, '"t w o" is no store\'s name'],
  [{ FOLLOW_URLS: `s3://bucket/${"x".repeat(100)}` }, "is no store's name"],
  [{ DB_PATH: "" }, "DB_PATH: missing"],
  [{ METRICS_FILE: good.DB_PATH }, "METRICS_FILE: expected a name that ends with .prom"],
  [{ S3_ENDPOINT_URL: undefined }, "S3_ENDPOINT_URL: missing"],
  [{ S3_ENDPOINT_URL: "ftp://x" }, "S3_ENDPOINT_URL: expected an http or https URL"],
  [{ S3_ACCESS_KEY_ID: undefined }, "S3_ACCESS_KEY_ID: missing"],
  [{ S3_SECRET_ACCESS_KEY: "file:/nowhere" }, "S3_SECRET_ACCESS_KEY: cannot read /nowhere (ENOENT)"],
  [{ FOLLOW_JWKS: undefined }, "FOLLOW_JWKS: missing"],
  [{ FOLLOW_JWKS: "" }, "FOLLOW_JWKS: missing"],
  [{ FOLLOW_JWKS: "{" }, "FOLLOW_JWKS: expected a JWK set"],
  [{ FOLLOW_JWKS: JSON.stringify({ keys: [{ ...key, x: "AAAA" }] }) }, "FOLLOW_JWKS: expected a JWK set"],
  [
    { FOLLOW_JWKS: JSON.stringify({ keys: [{ ...key, purpose: "tokens" }] }) },
    "whose purpose is publications",
  ],
  [{ FOLLOW_JWKS: "file:/nowhere" }, "FOLLOW_JWKS: cannot read /nowhere (ENOENT)"],
  [{ GENERATION_RETENTION_HOURS: "-1" }, "GENERATION_RETENTION_HOURS: expected hours from 0 to 168"],
  [{ SOURCE_TIMEOUT_SECONDS: "1e3" }, "SOURCE_TIMEOUT_SECONDS: expected seconds"],
])("%p is refused: %s", (changed, said) => {
  expect(() => readSettings(nothing, { ...good, ...changed })).toThrow(said);
});

test("all that is bad is named at once, and no secret is repeated", () => {
  const bad = { FOLLOW_URLS: "x://", DB_PATH: "", FOLLOW_JWKS: "very secret", FOLLOW_INTERVAL_SECONDS: "x" };
  try {
    readSettings(nothing, bad);
    throw new Error("it was taken");
  } catch (error) {
    const { message } = error as Error;
    for (const name of ["x://", "DB_PATH", "FOLLOW_JWKS", "FOLLOW_INTERVAL_SECONDS"])
      expect(message).toContain(name);
    expect(message).not.toContain("very secret");
  }
});

test("a key file that every user may read is refused", () => {
  const folder = newFolder("follow");
  const path = join(folder, "key");
  writeFileSync(path, "very secret\n");
  const env = { ...good, S3_SECRET_ACCESS_KEY: `file:${path}` };
  chmodSync(path, 0o644);
  expect(() => readSettings(nothing, env)).toThrow(`chmod o= ${path}`);
  chmodSync(path, 0o640);
  expect(readSettings(nothing, env).s3?.secretAccessKey).toBe("very secret");
  rmSync(folder, { recursive: true });
});
