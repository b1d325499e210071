import { signingKeysOf } from "../answers.ts";
import { DatabaseUnreadable, DatabaseUnusable } from "../database/errors.ts";
import { readSettings, type Settings } from "../settings.ts";
import { Progress } from "./progress.ts";
import { renderBundle } from "./render-bundle.ts";
import { type RenderCommand, readRenderCommand, renderUsage } from "./render-options.ts";
import { renderShare } from "./render-share.ts";
import type { Program } from "./share-process.ts";

/** Where a command writes: lines of results, lines for people, and bytes for the process that started it. */
type Output = {
  line: (text: string) => void;
  progress: (text: string) => void;
  bytes: (bytes: Uint8Array) => void;
};

type Context = { program: Program; output: Output };

/** Does what the arguments say, with the settings in the program's environment, and gives the exit code. */
export async function runRender(args: readonly string[], context: Context): Promise<number> {
  try {
    const run = prepare(args, context);
    try {
      await run();
      return 0;
    } catch (error) {
      context.output.progress((error as Error).message);
      return error instanceof DatabaseUnusable || error instanceof DatabaseUnreadable ? 5 : 1;
    }
  } catch (error) {
    context.output.progress((error as Error).message);
    return 2;
  }
}

/** Reads arguments and settings. @throws Error that says what is expected */
function prepare(args: readonly string[], { program, output }: Context): () => unknown {
  const command = readRenderCommand(args);
  if (command.kind === "help") return () => output.line(renderUsage);
  const { env } = program;
  if (command.kind === "keys") {
    const settings = readSettings(env);
    return () => printKeys(settings, output);
  }
  const settings = readSettings({ ...env, DB_PATH: command.database });
  return command.kind === "share"
    ? () => renderShare(command.share, { settings, write: output.bytes })
    : () => renderWhole(command, settings, { program, output });
}

/** What an origin with these settings has at /.well-known/jwks.json. */
async function printKeys(settings: Settings, output: Output): Promise<void> {
  output.line(JSON.stringify((await signingKeysOf(settings)).publicKeys));
}

async function renderWhole(
  { output: path, processes }: Extract<RenderCommand, { kind: "bundle" }>,
  settings: Settings,
  { program, output }: Context,
): Promise<void> {
  const started = performance.now();
  const onProgress = new Progress(output.progress).report;
  const options = { settings, output: path, now: Date.now(), processes, program, onProgress };
  const { generation, documents, bytes, index_bytes, sha256, index_sha256 } = await renderBundle(options);
  const seconds = Math.round(performance.now() - started) / 1000;
  output.line(JSON.stringify({ generation, documents, bytes, index_bytes, sha256, index_sha256, seconds }));
}
