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
import * as z from "zod/mini";
import { type Environment, readKeyFiles } from "./key-files.ts";

const makeBytes = "openssl rand -base64 32 | tr '+/' '-_' | tr -d '='";

const workersExpected = "expected auto or a whole number from 1 to 64";

/** .env.example says what each variable means. */
const environment = z.object({
  HOST: z._default(hostName(), "127.0.0.1"),
  PORT: z._default(wholeNumber(0, 65_535), 3000),
  DB_PATH: z._default(text(/^[^\0]+$/, "a file"), "data/trendvault.db"),
  TOKEN_SIGNING_KEYS: secret(parseSeeds),
  SIGNING_KEYS: secret(parseSeeds),
  EDGE_KEYS: z.optional(secret(parseKeyRing)),
  EDGE_SIGNING_PUBLIC_KEYS: z.optional(publicKeys()),
  VIDEO_URL: z.optional(
    z.string().check(
      z.refine(isVideoUrlTemplate, {
        error: "expected an https URL without user, with {id} once, in its path or query",
      }),
    ),
  ),
  THUMBNAIL_HOSTS: z._default(thumbHosts(), ""),
  REGIONS_TABLE: z.optional(regionTable()),
  WORKERS: z._default(
    z.union([z.literal("auto"), wholeNumber(1, 64, workersExpected)], { error: workersExpected }),
    1,
  ),
  ADMIN_HOST: z._default(hostName(), "127.0.0.1"),
  ADMIN_PORT: z._default(wholeNumber(0, 65_535), 9464),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.optional(text(/^(https?:\/\/[^\s]+)?$/, "an http or https URL")),
  OTEL_TRACES_SAMPLER_ARG: z._default(text(/^(0?\.\d{1,9}|0|1|1\.0)$/, "a share from 0 to 1"), "0.01"),
});

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
  const parsed = environment.safeParse(files.values);
  const failed = new Set(files.failures.map(({ name }) => name));
  const issues = (parsed.error?.issues ?? [])
    .map(({ path, message }) => ({ name: nameAsSet(String(path[0])), message }))
    .filter(({ name }) => !failed.has(name)); // the file's own failure is the reason
  const bad = [...files.failures, ...issues].map(describeIssue);
  if (!parsed.success || bad.length > 0) throw new Error(bad.join("\n"));
  const values = parsed.data;
  requireOwnTokenKeys(values.TOKEN_SIGNING_KEYS, values.SIGNING_KEYS);
  return {
    host: values.HOST,
    port: values.PORT,
    databasePath: values.DB_PATH,
    tokenSigningSeeds: values.TOKEN_SIGNING_KEYS,
    signingSeeds: values.SIGNING_KEYS,
    edgeKeys: values.EDGE_KEYS ?? null,
    edgeSigningKeys: values.EDGE_SIGNING_PUBLIC_KEYS ?? [],
    videoUrl: values.VIDEO_URL ?? null,
    thumbHosts: readThumbHosts(values.THUMBNAIL_HOSTS) ?? [],
    regions: values.REGIONS_TABLE ?? null,
    workers: values.WORKERS === "auto" ? navigator.hardwareConcurrency : values.WORKERS,
    adminHost: values.ADMIN_HOST,
    adminPort: values.ADMIN_PORT,
    tracing: values.OTEL_EXPORTER_OTLP_ENDPOINT ? { ratio: Number(values.OTEL_TRACES_SAMPLER_ARG) } : null,
  };
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

function text(pattern: RegExp, expected: string) {
  return z.string().check(z.regex(pattern, { error: `expected ${expected}` }));
}

function wholeNumber(
  smallest: number,
  largest: number,
  error = `expected a whole number from ${smallest} to ${largest}`,
) {
  return z.pipe(
    z.string().check(z.regex(/^[0-9]{1,9}$/, { error })),
    z.pipe(z.transform(Number), z.int().check(z.minimum(smallest, { error }), z.maximum(largest, { error }))),
  );
}

function hostName() {
  return text(/^[0-9A-Za-z.:-]+$/, "a host name or address");
}

function thumbHosts() {
  const error =
    "expected hosts, with a port where it is not the usual one, comma-separated, of at most 2000 characters";
  return z.string().check(z.refine((value) => readThumbHosts(value) !== null, { error }));
}

function publicKeys() {
  const error = "expected public keys of ed25519, each base64url of 32 bytes, comma-separated";
  return z.pipe(
    z.pipe(
      z.string(),
      z.transform((text) => text.split(",").flatMap((part) => part.trim() || [])),
    ),
    z.array(z.string().check(z.refine(isPublicKey, { error }))),
  );
}

function isPublicKey(x: string): boolean {
  const bytes = fromBase64url(x);
  return bytes?.length === 32 && toBase64url(bytes) === x; // its id is made of the text
}

function regionTable() {
  return z.pipe(
    z.string(),
    z.transform((value, context): RegionTable => {
      try {
        return readRegionTable(value);
      } catch (error) {
        const { message } = error as Error;
        context.issues.push({ code: "custom", message, input: "(regions)" });
        return z.NEVER;
      }
    }),
  );
}

/** `parse` throws an Error that does not repeat the value. */
function secret<T>(parse: (value: string) => T) {
  return z.pipe(
    z
      .string({ error: "missing, and there is no default key" })
      .check(z.minLength(1, { error: "empty: give a key, or delete the line", abort: true })),
    z.transform((value, context): T => {
      try {
        return parse(value);
      } catch (error) {
        context.issues.push({ code: "custom", message: (error as Error).message, input: "(secret)" });
        return z.NEVER;
      }
    }),
  );
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
