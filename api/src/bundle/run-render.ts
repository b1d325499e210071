import { signingKeysOf } from "../answers.ts";
import { DatabaseUnreadable, DatabaseUnusable } from "../database/errors.ts";
import { readSettings } from "../settings.ts";
import { Progress } from "./progress.ts";
import { renderBundle } from "./render-bundle.ts";
import { readRenderOptions, renderUsage } from "./render-options.ts";

type Environment = Record<string, string | undefined>;

/** Where a command writes whole lines. */
export type Output = { line: (text: string) => void; progress: (text: string) => void };

/** Renders a bundle as its arguments and the environment say, and gives the exit code. */
export async function runRender(args: readonly string[], env: Environment, output: Output): Promise<number> {
  if (args.includes("--help")) {
    output.line(renderUsage);
    return 0;
  }
  if (args.includes("--keys")) return printKeys(env, output);
  const started = performance.now();
  const prepared = prepare(args, env);
  if (prepared instanceof Error) {
    output.progress(prepared.message);
    return 2;
  }
  const progress = new Progress(output.progress);
  try {
    const onProgress = progress.report;
    const { settings, path } = prepared;
    const bundle = await renderBundle({ settings, output: path, now: Date.now(), onProgress });
    const { generation, documents, bytes, index_bytes, sha256, index_sha256 } = bundle;
    const seconds = Math.round(performance.now() - started) / 1000;
    output.line(JSON.stringify({ generation, documents, bytes, index_bytes, sha256, index_sha256, seconds }));
    return 0;
  } catch (error) {
    output.progress((error as Error).message);
    return error instanceof DatabaseUnusable || error instanceof DatabaseUnreadable ? 5 : 1;
  }
}

/** What an origin with these settings has at /.well-known/jwks.json. */
async function printKeys(env: Environment, output: Output): Promise<number> {
  try {
    output.line(JSON.stringify((await signingKeysOf(readSettings(env))).publicKeys));
    return 0;
  } catch (error) {
    output.progress((error as Error).message);
    return 2;
  }
}

function prepare(args: readonly string[], env: Environment) {
  try {
    const { database, output } = readRenderOptions(args);
    return { settings: readSettings({ ...env, DB_PATH: database }), path: output };
  } catch (error) {
    return error as Error;
  }
}
