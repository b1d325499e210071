import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOrMakeKeys } from "./key-file.ts";

const newPath = () => join(mkdtempSync(join(tmpdir(), "trendvault-keys-")), ".env");

test("a key file that is missing is made for its owner alone, with keys of 32 random bytes", () => {
  const path = newPath();
  const { settings, made } = readOrMakeKeys(path);
  expect(made).toEqual(["TOKEN_KEYS", "SIGNING_KEY", "EDGE_KEYS"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(settings.TOKEN_KEYS).toMatch(/^k1:[\w-]{43}$/);
});

test("a whole key file is read and left as it is", () => {
  const path = newPath();
  const { settings } = readOrMakeKeys(path);
  const before = readFileSync(path, "utf8");
  expect(readOrMakeKeys(path)).toEqual({ settings, made: [] });
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("a key that is missing from a key file is added, and the others stay", () => {
  const path = newPath();
  writeFileSync(path, 'TOKEN_KEYS="mine"\n');
  const { settings, made } = readOrMakeKeys(path);
  expect(made).toEqual(["SIGNING_KEY", "EDGE_KEYS"]);
  expect(settings.TOKEN_KEYS).toBe("mine");
  expect(readOrMakeKeys(path).settings).toEqual(settings);
});

test("two machines never share a key", () => {
  const [one, two] = [newPath(), newPath()].map((path) => readOrMakeKeys(path).settings.TOKEN_KEYS);
  expect(one).not.toBe(two);
});
