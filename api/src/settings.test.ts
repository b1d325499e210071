import { expect, test } from "bun:test";
import { readSettings } from "./settings.ts";

const zeros = "A".repeat(43);
const key = `${"B".repeat(42)}A`; // 32 bytes
const enough = { TOKEN_KEYS: `k1:${key}`, SIGNING_KEY: key };

test("what has a default may be left out", () => {
  const settings = readSettings(enough);
  expect(settings).toMatchObject({ host: "127.0.0.1", port: 3000, databasePath: "data/trendvault.db" });
  expect(settings).toMatchObject({ edgeKeys: null, workers: 1, adminHost: "127.0.0.1", adminPort: 9464 });
});

test("without a token key nothing starts, and the message shows how to make one", () => {
  expect(() => readSettings({})).toThrow(
    /^TOKEN_KEYS: missing, and there is no default key\. Example: TOKEN_KEYS=k1:/,
  );
});

test.each([
  ["PORT", "http", "PORT: expected a whole number from 0 to 65535. Example: PORT=3000"],
  ["PORT", "65536", "PORT: expected a whole number from 0 to 65535. Example: PORT=3000"],
  ["PORT", "", "PORT: expected a whole number from 0 to 65535. Example: PORT=3000"],
  ["HOST", "not a host", "HOST: expected a host name or address. Example: HOST=127.0.0.1"],
  ["DB_PATH", "", "DB_PATH: expected a file. Example: DB_PATH=data/trendvault.db"],
  ["TOKEN_KEYS", "k1:short", "TOKEN_KEYS: the key of k1"],
  ["EDGE_KEYS", "", "EDGE_KEYS: empty: give a key, or delete the line. Example: EDGE_KEYS=e1:"],
  ["EDGE_KEYS", "k", "EDGE_KEYS: entry 1 does not begin with a key id"],
  ["WORKERS", "many", "WORKERS: expected auto or a whole number from 1 to 64. Example: WORKERS=auto"],
  ["EDGE_KEYS", `e1:${zeros}`, "EDGE_KEYS: the key of e1 is one byte repeated: make a random one. Example:"],
  ["TOKEN_KEYS", `k1:${zeros}`, "TOKEN_KEYS: the key of k1 is one byte repeated"],
  ["SIGNING_KEY", zeros, "SIGNING_KEY: key 1 is one byte repeated: make a random one. Example: SIGNING_KEY="],
  ["SIGNING_KEY", `${key},AAAA`, "SIGNING_KEY: key 2 is not base64url of exactly 32 bytes"],
  ["WORKERS", "0", "WORKERS: expected auto or a whole number from 1 to 64. Example: WORKERS=auto"],
  ["ADMIN_PORT", "-1", "ADMIN_PORT: expected a whole number from 0 to 65535. Example: ADMIN_PORT=9464"],
])("%s=%p is refused with name, problem and example", (name, value, message) => {
  expect(() => readSettings({ ...enough, [name]: value })).toThrow(message);
});

test("all bad settings are named at once", () => {
  expect(() => readSettings({ PORT: "x", HOST: " " })).toThrow(/HOST[\s\S]*PORT[\s\S]*TOKEN_KEYS/);
});
