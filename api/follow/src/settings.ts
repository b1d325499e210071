import { isKeyFor, type PublicKeySet } from "@trendvault/contract/keys";
import { type Environment, readSecret, readSettingFile } from "../../src/key-files.ts";
import type { Logger } from "../../src/log.ts";
import { nameStore, type openStore } from "./stores.ts";

/** What the command line says; null where it says nothing. */
type CommandLine = {
  stores: string[];
  database: string | null;
  metrics: string | null;
  allowStale: boolean;
  once: boolean;
};

export type Settings = {
  stores: ReturnType<typeof nameStore>[];
  s3: Parameters<typeof openStore>[1];
  /** A JWK set, or `file:PATH`. */
  keys: string;
  database: string;
  metricsFile: string | null;
  retentionSeconds: number;
  /** How old a generation may be for a follower that knows none yet. */
  maxAgeSeconds: number;
  intervalSeconds: number;
  timeoutSeconds: number;
  allowStale: boolean;
  once: boolean;
};

/** Reads the settings; the command line wins. @throws Error with a line for each bad one: its name, what was expected */
export function readSettings(line: CommandLine, env: Environment): Settings {
  const problems: string[] = [];
  const attempt = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      problems.push((error as Error).message);
      return undefined as T; // not used: there is a problem
    }
  };
  const number = (name: string, bounds: Bounds) => attempt(() => readNumber(name, env[name], bounds));
  const stores = attempt(() => readStores(line.stores, env)) ?? [];
  const settings: Settings = {
    stores,
    s3: stores.some(({ kind }) => kind === "s3") ? attempt(() => readS3(env)) : null,
    keys: attempt(() => readKeySetting(env)),
    database: attempt(() => required("DB_PATH", line.database ?? env.DB_PATH, "/srv/trendvault/lists.db")),
    metricsFile: attempt(() => readMetricsFile(line.metrics ?? env.METRICS_FILE ?? null)),
    retentionSeconds: Math.round(
      3600 * number("GENERATION_RETENTION_HOURS", { unit: "hours", usual: 0.75, least: 0, most: 168 }),
    ),
    maxAgeSeconds: 900,
    intervalSeconds: number("FOLLOW_INTERVAL_SECONDS", { unit: "seconds", usual: 1, least: 0.1, most: 3600 }),
    timeoutSeconds: number("SOURCE_TIMEOUT_SECONDS", { unit: "seconds", usual: 30, least: 0.1, most: 3600 }),
    allowStale: line.allowStale,
    once: line.once,
  };
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return settings;
}

/** What is needed to read a store without following it: its writers' keys, and the key to S3. @throws Error */
export function readAccess({ kind }: Settings["stores"][number], env: Environment) {
  return { keys: readKeys(readKeySetting(env)), s3: kind === "s3" ? readS3(env) : null };
}

/** @throws Error for a name as the database's: a slip would replace it */
function readMetricsFile(path: string | null): string | null {
  if (path === null || path.endsWith(".prom")) return path;
  throw new Error("METRICS_FILE: expected a name that ends with .prom; the collector reads no other file");
}

/** Where S3 is, and the key to it. @throws Error */
function readS3(env: Environment) {
  const endpoint = required(
    "S3_ENDPOINT_URL",
    env.S3_ENDPOINT_URL,
    "https://ACCOUNT.r2.cloudflarestorage.com",
  );
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new Error(
      `S3_ENDPOINT_URL: expected an http or https URL without the bucket, like https://s3.eu-central-1.amazonaws.com`,
    );
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    region: env.S3_REGION ?? "auto",
    accessKeyId: readKey("S3_ACCESS_KEY_ID", env),
    secretAccessKey: readKey("S3_SECRET_ACCESS_KEY", env),
  };
}

/** Where the writers' public keys are. @throws Error */
function readKeySetting({ FOLLOW_JWKS: text }: Environment): string {
  if (!text)
    throw new Error(
      "FOLLOW_JWKS: missing. It has the writers' public keys, as writer publication-keys prints them, or names a file with them: file:/etc/trendvault/follow-jwks",
    );
  readKeys(text);
  return text;
}

function readStores(named: readonly string[], env: Environment): Settings["stores"] {
  const texts = named.length > 0 ? named : (env.FOLLOW_URLS ?? "").split(",").map((text) => text.trim());
  if (texts.length === 1 && texts[0] === "")
    throw new Error(
      "FOLLOW_URLS: missing. Name the store: bin/follow s3://bucket/prefix, or set FOLLOW_URLS",
    );
  const names = env.FOLLOW_NAMES?.split(",").map((name) => name.trim());
  if (names !== undefined && names.length !== texts.length)
    throw new Error(`FOLLOW_NAMES: expected a name for each of ${texts.length} stores, comma-separated`);
  const stores = texts.map((text, index) => nameStore(text, names?.[index]));
  const twice = stores.find((store, index) => stores.findIndex(({ text }) => text === store.text) < index);
  if (twice !== undefined) throw new Error(`FOLLOW_URLS: ${twice.text} is named twice`);
  return stores;
}

function readKey(name: string, env: Environment): string {
  const value = required(name, env[name], "<from the store's provider, or file: and the path of a file>");
  try {
    return readSecret(value);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

function required(name: string, value: string | undefined, example: string): string {
  if (value !== undefined && value !== "") return value;
  throw new Error(`${name}: missing. Example: ${name}=${example}`);
}

type Bounds = { unit: string; usual: number; least: number; most: number };

function readNumber(name: string, value: string | undefined, { unit, usual, least, most }: Bounds): number {
  const number = /^\d{1,7}(\.\d{1,20})?$/.test(value ?? "") ? Number(value) : Number.NaN;
  if (value === undefined) return usual;
  if (number >= least && number <= most) return number;
  throw new Error(`${name}: expected ${unit} from ${least} to ${most}. Example: ${name}=${usual}`);
}

/**
 * Gives the keys of a setting, whose file is read each time: while it cannot be used, the keys of before stay, and the
 * log says why. @throws Error when it cannot be used at first
 */
export function keyReader(setting: string, log: Logger): () => PublicKeySet {
  let [keys, said] = [readKeys(setting), ""];
  return () => {
    try {
      [keys, said] = [readKeys(setting), ""];
    } catch (error) {
      const { message } = error as Error;
      if (message !== said) log("error", "keys_rejected", `${message}. The keys of before stay.`);
      said = message;
    }
    return keys;
  };
}

/**
 * The keys of purpose `publications` in a JWK set (RFC 7517), or in the file of `file:PATH`. @throws Error that says what
 * was expected
 */
function readKeys(setting: string): PublicKeySet {
  const path = setting.startsWith("file:") ? setting.slice("file:".length) : null;
  const keys = parseKeys(path === null ? setting : readText(path)).filter((key) =>
    isKeyFor("publications", key),
  );
  if (keys.length > 0) return { keys };
  throw new Error(
    `FOLLOW_JWKS${path === null ? "" : `=${setting}`}: expected a JWK set with a key whose purpose is publications, as writer publication-keys prints it`,
  );
}

function readText(path: string): string {
  try {
    return readSettingFile(path);
  } catch (error) {
    throw new Error(`FOLLOW_JWKS: ${(error as Error).message}`);
  }
}

function parseKeys(text: string): PublicKeySet["keys"] {
  try {
    const { keys } = JSON.parse(text) as PublicKeySet;
    const isWhole = (x: string) => /^[\w-]{43}$/.test(x); // 32 bytes
    return keys.filter(({ kty, crv, kid, x }) => kty === "OKP" && crv === "Ed25519" && kid && isWhole(x));
  } catch {
    return []; // no JSON, or none of that form
  }
}
