import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { loadOrCreateKeys, replaceKeys } from "./settings.ts";

const newPath = () => join(newFolder("up"), ".env");

test("a key file that is missing is created for its owner alone, with keys of 32 random bytes", () => {
  const path = newPath();
  const { settings, created } = loadOrCreateKeys(path);
  expect(created).toEqual(["TOKEN_SIGNING_KEYS", "SIGNING_KEYS", "EDGE_KEYS", "VIEWS_KEYS"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(settings.TOKEN_SIGNING_KEYS).toMatch(/^[\w-]{43}$/);
});

test("the keys for publishing are created when they are asked for", () => {
  const path = newPath();
  loadOrCreateKeys(path);
  expect(loadOrCreateKeys(path, { forPublishing: true }).created).toEqual([
    ...["PUBLISH_SIGNING_KEYS", "EDGE_SIGNING_KEY", "S3_SECRET_ACCESS_KEY"],
  ]);
});

test("a whole key file is read and left as it is", () => {
  const path = newPath();
  const { settings } = loadOrCreateKeys(path);
  const before = readFileSync(path, "utf8");
  expect(loadOrCreateKeys(path)).toEqual({ settings, created: [] });
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("a key that is missing from a key file is added, and the others stay", () => {
  const path = newPath();
  writeFileSync(path, 'TOKEN_SIGNING_KEYS="mine"'); // without a newline at the end
  const { settings, created } = loadOrCreateKeys(path);
  expect(created).toEqual(["SIGNING_KEYS", "EDGE_KEYS", "VIEWS_KEYS"]);
  expect(settings.TOKEN_SIGNING_KEYS).toBe("mine");
  expect(loadOrCreateKeys(path).settings).toEqual(settings);
});

test("a copy of .env.example gets the keys that are empty there, and is closed to others", () => {
  const path = newPath();
  writeFileSync(path, readFileSync(join(import.meta.dir, "../../.env.example")), { mode: 0o644 });
  const { settings, created } = loadOrCreateKeys(path);
  expect(created).toEqual(["TOKEN_SIGNING_KEYS", "SIGNING_KEYS", "EDGE_KEYS", "VIEWS_KEYS"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(loadOrCreateKeys(path)).toEqual({ settings, created: [] });
});

test("a key of the environment that is not the local one is named, and replaced", () => {
  const { settings } = loadOrCreateKeys(newPath());
  const environment = { HOME: "/home", EDGE_KEYS: "garbage", SIGNING_KEYS: settings.SIGNING_KEYS };
  const { env, unused } = replaceKeys(environment, settings);
  expect(unused).toEqual(["EDGE_KEYS"]);
  expect(env).toEqual({ HOME: "/home", ...settings });
});

test("two machines never share a key", () => {
  const [one, two] = [newPath(), newPath()].map((path) => loadOrCreateKeys(path).settings.TOKEN_SIGNING_KEYS);
  expect(one).not.toBe(two);
});
