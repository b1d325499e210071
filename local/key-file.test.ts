import { expect, test } from "bun:test";
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOrMakeKeyFile } from "./key-file.ts";

const newPath = () => join(mkdtempSync(join(tmpdir(), "trendvault-keys-")), ".env");

test("a key file that is missing is made for its owner alone, with keys of 32 random bytes", () => {
  const path = newPath();
  const { settings, made } = readOrMakeKeyFile(path);
  expect(made).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(settings.TOKEN_KEYS).toMatch(/^k1:[\w-]{43}$/);
});

test("an existing key file is read and left as it is", () => {
  const path = newPath();
  const first = readOrMakeKeyFile(path);
  expect(readOrMakeKeyFile(path)).toEqual({ settings: first.settings, made: false });
});

test("two machines never share a key", () => {
  const [one, two] = [newPath(), newPath()].map((path) => readOrMakeKeyFile(path).settings.TOKEN_KEYS);
  expect(one).not.toBe(two);
});
