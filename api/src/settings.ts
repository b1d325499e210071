import {
  fromBase64url,
  isOneByteRepeated,
  type KeyRing,
  parseKeyRing,
  toBase64url,
} from "@trendvault/contract/keys";
import { readThumbHosts } from "@trendvault/contract/page";
import { videoAddress } from "@trendvault/contract/paths";
import { type RegionTable, readRegionTable } from "@trendvault/contract/regions";
import { type Environment, readKeyFiles } from "./key-files.ts";

const makeBytes = "openssl rand -base64 32 | tr '+/' '-_' | tr -d '='";

/** .env.example says what each variable means. */
const examples: Record<string, string> = {
  HOST: "127.0.0.1",
  PORT: "3000",
  DB_PATH: "data/trendvault.db",
  TOKEN_SIGNING_KEYS: `<32 random bytes as base64url: ${makeBytes}>`,
  SIGNING_KEYS: `<32 random bytes as base64url: ${makeBytes}>`,
  EDGE_KEYS: `e1:<32 random bytes as base64url: ${makeBytes}>`,
  EDGE_SIGNING_PUBLIC_KEYS: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  VIDEO_URL: "https://site.example/watch/{id}",
  THUMBNAIL_HOSTS: "img.example.com,127.0.0.1:8787",
  REGIONS_FILE: "/etc/trendvault/regions.json",
  WORKERS: "auto",
  ADMIN_HOST: "127.0.0.1",
  ADMIN_PORT: "9464",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
  OTEL_TRACES_SAMPLER_ARG: "0.01",
};

export type Settings = {
  host: string;
  /** 0 lets the system choose, as with adminPort. */
  port: number;
  databasePath: string;
  /** Ed25519 seeds, of the keys that sign tokens. The first signs. */
  tokenSigningSeeds: Uint8Array[];
  /** Ed25519 seeds, of the keys that sign responses. The first signs. */
  signingSeeds: Uint8Array[];
  /** Null: requests need no signature of the edge. */
  edgeKeys: KeyRing | null;
  /** The public halves (`x` of a JWK) of the keys that an edge without an origin signs with. */
  edgeSigningKeys: string[];
  /** Where a video is watched, with `{id}` once; null: only videos whose data say so have a link. */
  videoUrl: string | null;
  /** Whose pictures the page shows. */
  thumbHosts: string[];
  /** Null: those that come with the program. */
  regions: RegionTable | null;
  workers: number;
  adminHost: string;
  adminPort: number;
  /** The share of requests whose spans are exported; null: of none, and nothing of it is loaded. */
  tracing: { ratio: number } | null;
};

/** Reads the settings. @throws Error with a line for every bad variable: its name, what is wrong, an example */
export function readSettings(env: Environment, files = readKeyFiles(env)): Settings {
  const bad = [...files.failures];
  const failed = new Set(bad.map(({ name }) => name)); // the file's own failure is the reason
  const read = <T>(name: string, parse: (value: string) => T, fallback?: string): T => {
    try {
      return parse(files.values[name] ?? fallback ?? missing());
    } catch (error) {
      const named = { name: nameAsSet(name), message: (error as Error).message };
      if (!failed.has(named.name)) bad.push(named);
      return undefined as T; // all of them are thrown below
    }
  };
  const readIfSet = <T>(name: string, parse: (value: string) => T): T | null =>
    files.values[name] === undefined ? null : read(name, parse);
  const traced = readIfSet(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    text(/^(https?:\/\/[^\s]+)?$/, "an http or https URL"),
  );
  const ratio = text(/^(0?\.\d{1,9}|0|1|1\.0)$/, "a share from 0 to 1");
  const tracing = { ratio: Number(read("OTEL_TRACES_SAMPLER_ARG", ratio, "0.01")) };
  const settings: Settings = {
    host: read("HOST", hostName, "127.0.0.1"),
    port: read("PORT", wholeNumber(0, 65_535), "3000"),
    databasePath: read("DB_PATH", text(/^[^\0]+$/, "a file"), "data/trendvault.db"),
    tokenSigningSeeds: read("TOKEN_SIGNING_KEYS", secret(parseSeeds)),
    signingSeeds: read("SIGNING_KEYS", secret(parseSeeds)),
    edgeKeys: readIfSet("EDGE_KEYS", secret(parseKeyRing)),
    edgeSigningKeys: readIfSet("EDGE_SIGNING_PUBLIC_KEYS", publicKeys) ?? [],
    videoUrl: readIfSet("VIDEO_URL", videoUrl),
    thumbHosts: read("THUMBNAIL_HOSTS", thumbHosts, ""),
    regions: readIfSet("REGIONS_TABLE", readRegionTable),
    workers: read("WORKERS", countWorkers, "1"),
    adminHost: read("ADMIN_HOST", hostName, "127.0.0.1"),
    adminPort: read("ADMIN_PORT", wholeNumber(0, 65_535), "9464"),
    tracing: traced ? tracing : null,
  };
  if (bad.length > 0) throw new Error(bad.map(describeIssue).join("\n"));
  requireOwnTokenKeys(settings.tokenSigningSeeds, settings.signingSeeds);
  return settings;
}

function missing(): never {
  throw new Error("missing, and there is no default key");
}

function requireOwnTokenKeys(tokenSeeds: Uint8Array[], seeds: Uint8Array[]): void {
  const others = new Set(seeds.map((seed) => seed.toHex()));
  if (!tokenSeeds.some((seed) => others.has(seed.toHex()))) return;
  throw new Error("TOKEN_SIGNING_KEYS: one of them is in SIGNING_KEYS as well. Make a key for each.");
}

function nameAsSet(name: string): string {
  return name === "REGIONS_TABLE" ? "REGIONS_FILE" : name;
}

function describeIssue({ name, message }: { name: string; message: string }): string {
  return `${name}: ${message.replaceAll("\n", "; ")}. Example: ${name}=${examples[name]}`;
}

/** What gives the value when it is as expected. */
function text(pattern: RegExp, expected: string): (value: string) => string {
  return (value) => {
    if (!pattern.test(value)) throw new Error(`expected ${expected}`);
    return value;
  };
}

const hostName = text(/^[0-9A-Za-z.:-]+$/, "a host name or address");

/** `other` is what it may be besides. */
function wholeNumber(smallest: number, largest: number, other = ""): (value: string) => number {
  return (value) => {
    const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= smallest && number <= largest) return number;
    throw new Error(`expected ${other}a whole number from ${smallest} to ${largest}`);
  };
}

const mostWorkers = 256; // supervisor.c has no more slots

function countWorkers(value: string): number {
  return value === "auto"
    ? Math.min(mostWorkers, navigator.hardwareConcurrency)
    : wholeNumber(1, 64, "auto or ")(value);
}

function thumbHosts(value: string): string[] {
  const hosts = readThumbHosts(value);
  if (hosts !== null) return hosts;
  throw new Error(
    "expected hosts, with a port where it is not the usual one, comma-separated, of at most 2000 characters",
  );
}

function publicKeys(value: string): string[] {
  const keys = value.split(",").flatMap((part) => part.trim() || []);
  if (keys.every(isPublicKey)) return keys;
  throw new Error("expected public keys of ed25519, each base64url of 32 bytes, comma-separated");
}

function isPublicKey(x: string): boolean {
  const bytes = fromBase64url(x);
  return bytes?.length === 32 && toBase64url(bytes) === x; // its id is made of the text
}

function videoUrl(value: string): string {
  if (isVideoUrlTemplate(value)) return value;
  throw new Error("expected an https URL without user, with {id} once, in its path or query");
}

/** `parse` throws an Error that does not repeat the value. */
function secret<T>(parse: (value: string) => T): (value: string) => T {
  return (value) => {
    if (value === "") throw new Error("empty: give a key, or delete the line");
    return parse(value);
  };
}

function parseSeeds(value: string): Uint8Array[] {
  return value.split(",").map((part, index) => {
    const seed = fromBase64url(part.trim());
    if (seed?.length !== 32) throw new Error(`key ${index + 1} is not base64url of exactly 32 bytes`);
    if (isOneByteRepeated(seed)) throw new Error(`key ${index + 1} is one byte repeated: make a random one`);
    return seed;
  });
}

/** What stands for the id of a video in VIDEO_URL. */
export const idPlace = "{id}";

const longest = 1800; // characters: an id has 64, escaped 192, and a link at most 2000

/** Whether a text can be VIDEO_URL: a video's address without user, with `{id}` once, in its path, query or fragment. */
function isVideoUrlTemplate(text: string): boolean {
  if (text.length > longest || !/^[!-~]+$/.test(text) || !videoAddress.test(text)) return false;
  if (text.split(idPlace).length !== 2) return false;
  const [first, second] = ["a", "b"].map((id) => URL.parse(text.replace(idPlace, id)));
  return first?.host !== undefined && first.host === second?.host && first.username + first.password === "";
}
