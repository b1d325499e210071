import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toBase64url } from "@trendvault/contract/keys";
import { newFolder } from "@trendvault/kit/machine";
import { readSettings } from "./settings.ts";

const key = `${"B".repeat(42)}A`; // 32 bytes
const zeros = "A".repeat(43);
const enough = { TOKEN_SIGNING_KEYS: `${"C".repeat(42)}A`, SIGNING_KEYS: key };

test("what has a default may be left out", () => {
  const settings = readSettings(enough);
  expect(settings).toMatchObject({ host: "127.0.0.1", port: 3000, databasePath: "data/trendvault.db" });
  expect(settings).toMatchObject({
    edgeKeys: null,
    videoUrl: null,
    workers: 1,
    adminHost: "127.0.0.1",
    adminPort: 9464,
    tracing: null,
  });
});

test("auto is a worker for each processor, up to as many as the supervisor has slots for", () => {
  const counts = [1, 64, 256, 257, 1024].map((count) => {
    Object.defineProperty(navigator, "hardwareConcurrency", { value: count, configurable: true });
    return readSettings({ ...enough, WORKERS: "auto" }).workers;
  });
  Reflect.deleteProperty(navigator, "hardwareConcurrency"); // that of the machine is its prototype's
  expect(counts).toEqual([1, 64, 256, 256, 256]);
});

test("spans are exported where a collector is named", () => {
  const read = (endpoint: string) =>
    readSettings({ ...enough, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).tracing;
  expect([read("http://127.0.0.1:4318"), read("")]).toEqual([{ ratio: 0.01 }, null]);
});

test("without a token key nothing starts, and the message shows how to make one", () => {
  expect(() => readSettings({})).toThrow(
    /^TOKEN_SIGNING_KEYS: missing, and there is no default key\. Example: TOKEN_SIGNING_KEYS=</,
  );
});

test.each([
  ["PORT", "http", "PORT: expected a whole number from 0 to 65535. Example: PORT=3000"],
  ["PORT", "65536", "PORT: expected a whole number from 0 to 65535. Example: PORT=3000"],
  ["PORT", "", "PORT: expected a whole number from 0 to 65535. Example: PORT=3000"],
  ["HOST", "not a host", "HOST: expected a host name or address. Example: HOST=127.0.0.1"],
  ["DB_PATH", "", "DB_PATH: expected a file. Example: DB_PATH=data/trendvault.db"],
  ["TOKEN_SIGNING_KEYS", "k1:short", "TOKEN_SIGNING_KEYS: key 1 is not base64url of exactly 32 bytes"],
  ["EDGE_KEYS", "", "EDGE_KEYS: empty: give a key, or delete the line. Example: EDGE_KEYS=e1:"],
  ["EDGE_KEYS", "k", "EDGE_KEYS: entry 1 does not begin with a key id"],
  ["WORKERS", "many", "WORKERS: expected auto or a whole number from 1 to 64. Example: WORKERS=auto"],
  ["EDGE_KEYS", `e1:${zeros}`, "EDGE_KEYS: the key of e1 is one byte repeated: make a random one. Example:"],
  ["TOKEN_SIGNING_KEYS", zeros, "TOKEN_SIGNING_KEYS: key 1 is one byte repeated"],
  [
    "SIGNING_KEYS",
    zeros,
    "SIGNING_KEYS: key 1 is one byte repeated: make a random one. Example: SIGNING_KEYS=",
  ],
  ["SIGNING_KEYS", `${key},AAAA`, "SIGNING_KEYS: key 2 is not base64url of exactly 32 bytes"],
  ["WORKERS", "0", "WORKERS: expected auto or a whole number from 1 to 64. Example: WORKERS=auto"],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "collector:4318",
    "OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL.",
  ],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", "OTEL_TRACES_SAMPLER_ARG: expected a share from 0 to 1. Example:"],
  ["ADMIN_PORT", "-1", "ADMIN_PORT: expected a whole number from 0 to 65535. Example: ADMIN_PORT=9464"],
])("%s=%p is refused with name, problem and example", (name, value, message) => {
  expect(() => readSettings({ ...enough, [name]: value })).toThrow(message);
});

test.each([
  "",
  "http://site.example/watch/{id}",
  "http://127.0.0.1@site.example/watch/{id}",
  "http://127.0.0.1:80:80/{id}",
  "https://site.example/watch",
  "https://site.example/{id}/{id}",
  "https://{id}.site.example/",
  "https://{id}",
  "https://user@site.example/{id}",
  "https://site.example/watch me/{id}",
  "https:///{id}",
  "https://[/{id}",
  `https://site.example/${"a".repeat(2000)}{id}`,
])("VIDEO_URL=%p is refused", (url) => {
  expect(() => readSettings({ ...enough, VIDEO_URL: url })).toThrow(
    "VIDEO_URL: expected an https URL without user, with {id} once, in its path or query. Example: VIDEO_URL=https://",
  );
});

test.each([
  "https://site.example/watch/{id}",
  "https://site.example:8443/?v={id}&t=1",
  "https://a/#{id}",
  "http://127.0.0.1:8790/watch/{id}",
])("VIDEO_URL=%p is taken", (url) => expect(readSettings({ ...enough, VIDEO_URL: url }).videoUrl).toBe(url));

test("one key does not sign both responses and tokens", () => {
  const both = { TOKEN_SIGNING_KEYS: `${enough.TOKEN_SIGNING_KEYS},${enough.SIGNING_KEYS}` };
  expect(() => readSettings({ ...enough, ...both })).toThrow(
    "TOKEN_SIGNING_KEYS: one of them is in SIGNING_KEYS as well. Make a key for each.",
  );
});

test("all bad settings are named at once", () => {
  expect(() => readSettings({ PORT: "x", HOST: " " })).toThrow(/HOST[\s\S]*PORT[\s\S]*TOKEN_SIGNING_KEYS/);
});

describe("a key file", () => {
  const folder = newFolder("key-files");
  const path = join(folder, "keys");
  afterAll(() => rmSync(folder, { recursive: true }));
  const { SIGNING_KEYS: _, ...others } = enough;

  function write(text: string, mode = 0o640): string {
    rmSync(path, { force: true, recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  }

  function replace(create: () => unknown): void {
    rmSync(path);
    create();
  }

  test("has what the setting would have, and may be changed between two readings", () => {
    const env = { ...others, SIGNING_KEYS: `file:${write(`${key}\n`)}` };
    expect(readSettings(env).signingSeeds.map(toBase64url)).toEqual([key]);
    const second = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    write(`${second}, ${key}`);
    expect(readSettings(env).signingSeeds.map(toBase64url)).toEqual([second, key]);
    const edge = { ...enough, EDGE_KEYS: `file:${write(`e2:${second},\ne1:${key}\n`)}` };
    expect([...(readSettings(edge).edgeKeys ?? [])].map(([kid]) => kid)).toEqual(["e2", "e1"]);
  });

  test.each<[string, () => void, string]>([
    ["is missing", () => rmSync(path), `cannot read ${path} (ENOENT)`],
    ["is a folder", () => replace(() => mkdirSync(path)), `${path} is not a regular file`],
    ["is a FIFO", () => replace(() => Bun.spawnSync(["mkfifo", path])), `${path} is not a regular file`],
    ["may be read by everybody", () => chmodSync(path, 0o644), `is open to every user: chmod o= ${path}`],
    ["may be written by everybody", () => chmodSync(path, 0o602), `is open to every user: chmod o= ${path}`],
    ["is empty", () => write(" \n"), `${path} is empty`],
    ["has no length", () => replace(() => symlinkSync("/proc/self/environ", path)), `${path} is empty`],
    ["is not UTF-8", () => writeFileSync(path, Buffer.from(`${key}é`, "latin1")), `${path} is not UTF-8`],
    ["is endless", () => write("A".repeat(65_537)), `${path} has more than 65536 bytes`],
    ["has no key", () => write("secret"), "key 1 is not base64url of exactly 32 bytes"],
    ["has zeros", () => write(zeros), "key 1 is one byte repeated: make a random one"],
  ])("that %s is refused with one line that does not quote it", (_name, spoil, problem) => {
    write(key);
    spoil();
    const read = () => readSettings({ ...others, SIGNING_KEYS: `file:${path}` });
    expect(read).toThrow(/^SIGNING_KEYS: .*\. Example: SIGNING_KEYS=<32 random bytes.*$/);
    expect(read).toThrow(problem);
    expect(read).not.toThrow(/secret|AAAAA/);
  });
});
