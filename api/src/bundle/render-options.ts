import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type NamedShare, readShare } from "./share-process.ts";

/** What the arguments ask for. Paths are absolute; a share is what one process asks another for. */
export type RenderCommand =
  | { kind: "help" }
  | { kind: "keys" }
  | { kind: "bundle"; database: string; output: string; processes: number }
  | { kind: "share"; database: string; share: NamedShare };

export const renderUsage = `Usage: bun api/dist/render.js --database FILE --output FILE [--processes N]
       bun api/dist/render.js --keys

Writes every document of the newest generation of a database, signed and compressed, into one file (a bundle), from
which an edge without an origin answers. Its settings are the origin's (.env.example). The last line on standard output
is JSON: generation, documents, bytes, index_bytes, sha256, index_sha256, seconds; progress is on standard error.
With --processes (1 to 16, default 1) so many others render side by side: quicker where there are free cores.
With --keys it prints the public keys that verify them, as an origin has them at /.well-known/jwks.json.
Exit codes: 0 written; 2 an argument or a setting is wrong; 5 the database cannot be read; 1 anything else.`;

/** Reads the arguments of the command. @throws Error that says what is expected */
export function readRenderCommand(args: readonly string[]): RenderCommand {
  const { values } = parseArgs({
    args: [...args],
    options: {
      database: { type: "string" },
      output: { type: "string" },
      processes: { type: "string", default: "1" },
      share: { type: "string" },
      keys: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return { kind: "help" };
  if (values.keys) return { kind: "keys" };
  const database = requirePath(values.database, "database");
  if (values.share !== undefined) return { kind: "share", database, share: requireShare(values.share) };
  const output = requirePath(values.output, "output");
  return { kind: "bundle", database, output, processes: requireProcesses(values.processes) };
}

function requirePath(path: string | undefined, name: string): string {
  if (path === undefined || path === "") throw new Error(`--${name}: missing, expected a file`);
  return resolve(path);
}

function requireProcesses(text: string): number {
  if (!/^([1-9]|1[0-6])$/.test(text)) throw new Error("--processes: expected a whole number from 1 to 16");
  return Number(text);
}

function requireShare(text: string): NamedShare {
  const share = readShare(text);
  if (share === null) throw new Error("--share: expected what render.js itself gives its processes");
  return share;
}
