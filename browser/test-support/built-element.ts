import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "./site.ts";

const client = join(import.meta.dirname, "../../client");

/** The files of the script tag, built from the sources as they are, by path. */
export function builtElement(): Record<string, Answer> {
  execFileSync("bun", ["run", "build"], { cwd: client, stdio: ["ignore", "ignore", "inherit"] });
  const folder = join(client, "dist/script");
  const headers = { "content-type": "text/javascript", "access-control-allow-origin": "*" };
  return Object.fromEntries(
    readdirSync(folder).map((name) => [`/${name}`, { headers, body: readFileSync(join(folder, name)) }]),
  );
}
