import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";

const comment = "# Local keys, made by bin/up. Git ignores this file; .env.example explains each setting.\n";

/** The keys that one machine needs, with a function that makes each: no key has a default. */
const newKeys: Record<string, () => string> = {
  TOKEN_KEYS: () => `k1:${randomKey()}`,
  SIGNING_KEY: randomKey,
  EDGE_KEYS: () => `e1:${randomKey()}`,
};

/**
 * Reads the local settings file. Keys that are missing are made and added, in a file that only its owner may read.
 * Returns the settings by name, and the names of the keys that were made.
 */
export function readOrMakeKeys(path: string): { settings: Record<string, string>; made: string[] } {
  const text = existsSync(path) ? readFileSync(path, "utf8") : comment;
  const present = definedOnly(parseEnv(text));
  const made = Object.entries(newKeys)
    .filter(([name]) => present[name] === undefined)
    .map(([name, make]) => [name, make()] as const);
  const lines = made.map(([name, key]) => `${name}="${key}"\n`).join("");
  if (made.length > 0) appendFileSync(path, (existsSync(path) ? "" : comment) + lines, { mode: 0o600 });
  return { settings: { ...present, ...Object.fromEntries(made) }, made: made.map(([name]) => name) };
}

/** Without the names that have no value. */
export function definedOnly(settings: NodeJS.Dict<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function randomKey(): string {
  return randomBytes(32).toString("base64url");
}
