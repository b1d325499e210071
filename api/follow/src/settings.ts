import { type Environment, readKeyFile } from "./key-files.ts";
import { type KeySetting, readKeys } from "./key-source.ts";
import { type NamedStore, nameStores } from "./store/name-stores.ts";
import { parseAddress } from "./store/open-store.ts";
import type { S3Options } from "./store/s3-store.ts";

/** What the command line says; null where it says nothing. */
export type CommandLine = {
  stores: string[];
  database: string | null;
  metrics: string | null;
  allowStale: boolean;
  once: boolean;
};

export type Settings = {
  stores: NamedStore[];
  s3: S3Options | null;
  keys: KeySetting;
  database: string;
  metricsFile: string | null;
  retentionSeconds: number;
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
  const seconds = (name: string, bounds: Bounds) => attempt(() => readSeconds(name, env[name], bounds));
  const stores = attempt(() => readStores(line.stores, env)) ?? [];
  const settings: Settings = {
    stores,
    s3: stores.some(({ kind }) => kind === "s3") ? attempt(() => readS3(env)) : null,
    keys: attempt(() => readKeySetting(env)),
    database: attempt(() => required("DB_PATH", line.database ?? env.DB_PATH, "/srv/trendvault/lists.db")),
    metricsFile: line.metrics ?? env.FOLLOW_METRICS_FILE ?? null,
    retentionSeconds: seconds("FOLLOW_RETENTION_SECONDS", { usual: 2700, least: 0, most: 86_400 }),
    maxAgeSeconds: seconds("FOLLOW_MAX_AGE_SECONDS", { usual: 900, least: 1, most: 604_800 }),
    intervalSeconds: seconds("FOLLOW_INTERVAL_SECONDS", { usual: 1, least: 0.1, most: 3600 }),
    timeoutSeconds: seconds("FOLLOW_TIMEOUT_SECONDS", { usual: 30, least: 0.1, most: 3600 }),
    allowStale: line.allowStale,
    once: line.once,
  };
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return settings;
}

/** Where S3 is, and the key to it. @throws Error */
export function readS3(env: Environment): S3Options {
  const endpoint = required("S3_ENDPOINT", env.S3_ENDPOINT, "https://ACCOUNT.r2.cloudflarestorage.com");
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new Error(
      `S3_ENDPOINT: expected an http or https URL without the bucket, like https://s3.eu-central-1.amazonaws.com`,
    );
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    region: env.S3_REGION ?? "auto",
    accessKeyId: readSecret("S3_ACCESS_KEY_ID", env),
    secretAccessKey: readSecret("S3_SECRET_ACCESS_KEY", env),
  };
}

/** Where the writers' public keys are. @throws Error */
export function readKeySetting(env: Environment): KeySetting {
  if (env.FOLLOW_JWKS !== undefined && env.FOLLOW_JWKS_FILE !== undefined)
    throw new Error("FOLLOW_JWKS_FILE: FOLLOW_JWKS is set as well: delete one of the two");
  if (!env.FOLLOW_JWKS && !env.FOLLOW_JWKS_FILE)
    throw new Error(
      "FOLLOW_JWKS: missing. It has the writers' public keys, as writer publication-keys prints them; or name a file with them in FOLLOW_JWKS_FILE",
    );
  const setting =
    env.FOLLOW_JWKS_FILE === undefined ? { text: env.FOLLOW_JWKS ?? "" } : { file: env.FOLLOW_JWKS_FILE };
  readKeys(setting);
  return setting;
}

function readStores(named: readonly string[], env: Environment): NamedStore[] {
  const texts = named.length > 0 ? named : (env.FOLLOW ?? "").split(",").map((text) => text.trim());
  if (texts.length === 1 && texts[0] === "")
    throw new Error("FOLLOW: missing. Name the store: bin/follow s3://bucket/prefix, or set FOLLOW");
  const stores = texts.map(parseAddress);
  const twice = stores.find((store, index) => stores.findIndex(({ text }) => text === store.text) < index);
  if (twice !== undefined) throw new Error(`FOLLOW: ${twice.text} is named twice`);
  return nameStores(stores, env.FOLLOW_NAMES);
}

function readSecret(name: string, env: Environment): string {
  const file = env[`${name}_FILE`];
  if (file === undefined) return required(name, env[name], `<from the store's provider, or ${name}_FILE>`);
  if (env[name] !== undefined) throw new Error(`${name}_FILE: ${name} is set as well: delete one of the two`);
  return readKeyFile(`${name}_FILE`, file);
}

function required(name: string, value: string | undefined, example: string): string {
  if (value !== undefined && value !== "") return value;
  throw new Error(`${name}: missing. Example: ${name}=${example}`);
}

type Bounds = { usual: number; least: number; most: number };

function readSeconds(name: string, value: string | undefined, { usual, least, most }: Bounds): number {
  const seconds = /^\d{1,7}(\.\d{1,3})?$/.test(value ?? "") ? Number(value) : Number.NaN;
  if (value === undefined) return usual;
  if (seconds >= least && seconds <= most) return seconds;
  throw new Error(`${name}: expected seconds from ${least} to ${most}. Example: ${name}=${usual}`);
}
