import { resolve } from "node:path";
import { parseOptions, usage } from "./options.ts";
import { up } from "./up.ts";

const root = resolve(import.meta.dir, "..");
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => stop.abort());

try {
  const options = parseOptions(Bun.argv.slice(2), { cwd: process.cwd(), root });
  if (options.help) process.stdout.write(usage);
  else fail(await up(options, { root, signal: stop.signal }));
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

function fail(reason: string | null): void {
  if (reason === null) return;
  console.error(`bin/up: ${reason}`);
  process.exitCode = 1;
}
