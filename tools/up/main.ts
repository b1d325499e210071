import { resolve } from "node:path";
import { type Options, parseOptions } from "./options.ts";
import { up } from "./up.ts";

const root = resolve(import.meta.dir, "../..");
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => stop.abort());

const options = readOptions();
if (options !== null) await run(options);

function readOptions(): Options | null {
  try {
    return parseOptions(Bun.argv.slice(2), { cwd: process.cwd(), root });
  } catch (error) {
    fail(`${describe(error)}\nSee bin/up --help.`, 2);
    return null;
  }
}

async function run(options: Options): Promise<void> {
  const reason = await up(options, { root, signal: stop.signal }).catch(describe);
  if (reason !== null) fail(reason, 1);
}

function fail(reason: string, exitCode: number): void {
  console.error(`bin/up: ${reason}`);
  process.exitCode = exitCode;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
