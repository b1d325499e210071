import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";

const comment =
  "# Local keys, created by bin/up. Git ignores this file; .env.example explains each setting.\n";

/** The keys that one machine may need, with a function that makes each: no key has a default. */
const createKey = {
  TOKEN_SIGNING_KEYS: randomKey,
  SIGNING_KEY: randomKey,
  EDGE_KEYS: () => `e1:${randomKey()}`,
  VIEWS_KEYS: () => `v1:${randomKey()}`,
  PUBLISH_SIGNING_KEY: randomKey,
  EDGE_SIGNING_KEY: randomKey,
  S3_SECRET_ACCESS_KEY: randomKey,
} satisfies Record<string, () => string>;

type KeyName = keyof typeof createKey;

const keyNames: readonly KeyName[] = ["TOKEN_SIGNING_KEYS", "SIGNING_KEY", "EDGE_KEYS", "VIEWS_KEYS"];
/** What publishing into a store needs as well. */
export const publishingKeyNames: readonly KeyName[] = [
  "PUBLISH_SIGNING_KEY",
  "EDGE_SIGNING_KEY",
  "S3_SECRET_ACCESS_KEY",
];

/**
 * Reads the local settings file. Missing keys are created and added, in a file that only its owner may read: those of
 * origin, edge and writer, and the `further` ones.
 * Returns the settings by name, and the names of the keys that were created.
 */
export function loadOrCreateKeys(
  path: string,
  further: readonly KeyName[] = [],
): { settings: Record<string, string>; created: string[] } {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const { TOKEN_KEYS: _, ...present } = definedOnly(parseEnv(text)); // of before tokens were signed with a key pair
  const created = [...keyNames, ...further]
    .filter((name) => !present[name]) // .env.example has empty ones
    .map((name) => [name, createKey[name]()] as const);
  const lines = created.map(([name, key]) => `${name}="${key}"\n`).join("");
  const before = text === "" ? comment : text.endsWith("\n") ? "" : "\n";
  if (created.length > 0) {
    appendFileSync(path, before + lines, { mode: 0o600 });
    chmodSync(path, 0o600); // a file that was there may be open to others
  }
  return { settings: { ...present, ...Object.fromEntries(created) }, created: created.map(([name]) => name) };
}

/**
 * What the services get: an environment, with the settings of the local file in place of its own. `unused` are the
 * names of keys that it sets to something else: on this machine they come from the local file only.
 */
export function replaceKeys(
  environment: NodeJS.Dict<string>,
  settings: Record<string, string>,
): { env: Record<string, string>; unused: string[] } {
  const env = { ...definedOnly(environment), ...settings };
  const files = Object.keys(createKey).map((name) => `${name}_FILE`);
  const unused = Object.keys(createKey)
    .filter((name) => environment[name] !== undefined && environment[name] !== settings[name])
    .concat(files.filter((name) => env[name] !== undefined));
  for (const name of files) delete env[name];
  return { env, unused };
}

/** Without the names that have no value. */
function definedOnly(settings: NodeJS.Dict<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function randomKey(): string {
  return randomBytes(32).toString("base64url");
}
