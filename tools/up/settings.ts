import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { keySigner } from "../../api/src/signing.ts";
import { HOST } from "./services.ts";

const comment =
  "# Local keys, created by bin/up. Git ignores this file; .env.example explains each setting.\n";

/** The keys that origin, edge and writer need, with a function that makes each: no key has a default. */
const keys: Record<string, () => string> = {
  TOKEN_SIGNING_KEYS: randomKey,
  SIGNING_KEYS: randomKey,
  EDGE_KEYS: () => `e1:${randomKey()}`,
  VIEWS_KEYS: () => `v1:${randomKey()}`,
};
/** What publishing into a store needs as well. */
const publishingKeys: Record<string, () => string> = {
  PUBLISH_SIGNING_KEYS: randomKey,
  EDGE_SIGNING_KEY: randomKey,
  S3_SECRET_ACCESS_KEY: randomKey,
};

/**
 * Reads the local settings file. Missing keys are created and added, in a file that only its owner may read: those of
 * origin, edge and writer, and `forPublishing` into a store those of that.
 * Returns the settings by name, and the names of the keys that were created.
 */
export function loadOrCreateKeys(
  path: string,
  { forPublishing = false } = {},
): { settings: Record<string, string>; created: string[] } {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const present = definedOnly(parseEnv(text));
  const created = Object.entries({ ...keys, ...(forPublishing ? publishingKeys : {}) })
    .filter(([name]) => !present[name]) // .env.example has empty ones
    .map(([name, make]) => [name, make()] as const);
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
  const unused = Object.keys({ ...keys, ...publishingKeys }).filter(
    (name) => environment[name] !== undefined && environment[name] !== settings[name],
  );
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

/** The bucket of edge-worker/dev-store, and the prefix that the edge reads. */
const publishInto = "s3://dev-store/lists";
/** From the project's folder, where the writer runs: its words may have no spaces, which the folder may. */
const render = [".tools/bin/bun", "--no-env-file", "api/src/render.ts"];

/**
 * The settings that publishing into the local store needs: the writer's, the renderer's, which it starts, and the edge's.
 * `env` has the keys.
 *
 * @throws Error with what a program said that could not print its public keys
 */
export async function withStore(
  env: Record<string, string>,
  { root, edgePort }: { root: string; edgePort: number },
): Promise<Record<string, string>> {
  const { x } = await keySigner(Buffer.from(env.EDGE_SIGNING_KEY ?? "", "base64url"));
  const settings = {
    ...env,
    PUBLISH_URL: publishInto,
    S3_ENDPOINT_URL: `http://${HOST}:${edgePort}`,
    S3_ACCESS_KEY_ID: env.S3_SECRET_ACCESS_KEY ?? "", // the local store looks at no more
    STORE_TIMEOUT_SECONDS: "600", // beside an edge and visitors on one machine
    RENDER_COMMAND: render.join(" "),
    EDGE_SIGNING_PUBLIC_KEYS: x,
  };
  const keys = await Promise.all([
    printedKeys([...render, "--keys"], { root, env: settings }),
    printedKeys([join(root, "writer/bin/writer"), "publication-keys"], { root, env: settings }),
  ]);
  return { ...settings, ORIGIN_JWKS: JSON.stringify({ keys: keys.flat() }) };
}

async function printedKeys(
  command: string[],
  { root, env }: { root: string; env: Record<string, string> },
): Promise<object[]> {
  const child = Bun.spawn(command, { cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [printed, said] = [await child.stdout.text(), await child.stderr.text()];
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed: ${said}`);
  return (JSON.parse(printed) as { keys: object[] }).keys;
}
