import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";

/**
 * Reads the local settings file and makes it, readable by its owner only, where there is none:
 * keys that this machine alone knows, so that no default key exists. Returns its settings by name.
 */
export function readOrMakeKeyFile(path: string): { settings: Record<string, string>; made: boolean } {
  const made = !existsSync(path);
  if (made) writeFileSync(path, newKeyFile(), { mode: 0o600, flag: "wx" });
  return { settings: definedOnly(parseEnv(readFileSync(path, "utf8"))), made };
}

function newKeyFile(): string {
  const key = () => randomBytes(32).toString("base64url");
  return [
    "# Local keys, made by bin/up. Git ignores this file; .env.example explains each setting.",
    `TOKEN_KEYS="k1:${key()}"`,
    `SIGNING_KEY="${key()}"`,
    "",
  ].join("\n");
}

function definedOnly(settings: NodeJS.Dict<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
