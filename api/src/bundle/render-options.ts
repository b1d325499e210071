import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** The database to render, and the file to write: absolute paths. */
type RenderOptions = { database: string; output: string };

export const renderUsage = `Usage: bun api/dist/render.js --database FILE --output FILE
       bun api/dist/render.js --keys

Writes every document of the newest generation of a database, signed and compressed, into one file (a bundle), from
which an edge without an origin answers. Its settings are the origin's (.env.example). The last line on standard output
is JSON: generation, documents, bytes, index_bytes, sha256, index_sha256, seconds; progress is on standard error.
With --keys it prints the public keys that verify them, as an origin has them at /.well-known/jwks.json.
Exit codes: 0 written; 2 an argument or a setting is wrong; 5 the database cannot be read; 1 anything else.`;

/** Reads the arguments of the command. @throws Error that says what is expected */
export function readRenderOptions(args: readonly string[]): RenderOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { database: { type: "string" }, output: { type: "string" } },
  });
  return { database: requirePath(values.database, "database"), output: requirePath(values.output, "output") };
}

function requirePath(path: string | undefined, name: string): string {
  if (path === undefined || path === "") throw new Error(`--${name}: missing, expected a file`);
  return resolve(path);
}
