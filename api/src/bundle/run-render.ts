import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type BundleFacts,
  type BundleFile,
  BundleIndexWriter,
  bundleMagic,
} from "@trendvault/contract/bundle-file";
import { DatabaseUnreadable, DatabaseUnusable } from "../database/database-files.ts";
import { signingKeysOf } from "../origin.ts";
import { readSettings, type Settings } from "../settings.ts";
import { type Block, openRendering, type RenderInput, type Share } from "./rendering.ts";

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

type RenderOptions = RenderInput & {
  /** The file to write. */
  output: string;
  /** How many processes render: this one alone, or so many others. */
  processes: number;
  /** How this program is started. */
  program: Program;
  onProgress: (written: BundleCounts) => void;
};

/** What was rendered. */
export type RenderedBundle = WrittenBundle & { generation: number };

/**
 * Writes the bundle of the newest generation of a database. It is written to its place as it is made, and deleted when
 * it cannot be finished. @throws Error that says what to do
 */
export async function renderBundle(options: RenderOptions): Promise<RenderedBundle> {
  const rendering = await openRendering(options);
  const { processes, onProgress } = options;
  const { facts } = rendering;
  const file = new BundleFileWriter(options.output);
  const blocksOf = (share: Share) =>
    processes === 1 ? rendering.blocks(share) : blocksOfProcess(share, { ...options, facts });
  try {
    const shares = Array.from({ length: processes }, (_, index) => ({ index, of: processes }));
    const writing = shares.map(async (share) => {
      for await (const block of blocksOf(share)) {
        file.add(block);
        onProgress(file);
      }
    });
    await Promise.all(writing);
    return { generation: facts.generation, ...file.finish(facts) };
  } catch (error) {
    file.discard();
    throw error;
  } finally {
    rendering.close();
  }
}

/** How a program is started: its words, and its environment. */
type Program = { words: readonly string[]; env: Record<string, string | undefined> };

type Options = RenderInput & { program: Program; facts: Pick<BundleFacts, "generation"> };

/** The blocks of a share, rendered by another process. @throws Error with what that said, when it fails */
async function* blocksOfProcess(
  { index, of }: Share,
  { settings, now, program, facts }: Options,
): AsyncGenerator<Block> {
  const share = `${index}/${of}@${now}#${facts.generation}`;
  const child = Bun.spawn([...program.words, "--database", settings.databasePath, "--share", share], {
    env: program.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    yield* readBlocks(child.stdout);
    const said = await child.stderr.text();
    const code = await child.exited;
    if (code !== 0) throw new Error(said.trim() || `A process that renders a share ended with ${code}`);
  } finally {
    child.kill("SIGKILL"); // nothing, when it has ended
  }
}

/** A share as `blocksOfProcess` names it: of which generation, and the time at which it is signed. */
type NamedShare = { share: Share; now: number; generation: number };

/** Reads the name of a share, or gives null. */
function readShare(text: string): NamedShare | null {
  const [, index, of, now, generation] = /^(\d+)\/(\d+)@(\d+)#(\d+)$/.exec(text)?.map(Number) ?? [];
  if (index === undefined || of === undefined || now === undefined || generation === undefined) return null;
  return { share: { index, of }, now, generation };
}

/** Renders a share for the process that writes the file. @throws Error that says what to do */
async function renderShare(
  { share, now, generation }: NamedShare,
  { settings, write }: { settings: Settings; write: (bytes: Uint8Array) => void },
): Promise<void> {
  const rendering = await openRendering({ settings, now });
  const { facts } = rendering;
  if (facts.generation !== generation) {
    throw new Error(
      `Cannot render generation ${generation}: ${facts.generation} was published meanwhile. Run it again`,
    );
  }
  for (const block of rendering.blocks(share)) write(encodeBlock(block));
  rendering.close();
}

/** What the arguments ask for. Paths are absolute; a share is what one process asks another for. */
type RenderCommand =
  | { kind: "help" }
  | { kind: "keys" }
  | { kind: "bundle"; database: string; output: string; processes: number }
  | { kind: "share"; database: string; share: NamedShare };

const renderUsage = `Usage: bun api/dist/render.js --database FILE --output FILE [--processes N]
       bun api/dist/render.js --keys

Writes every document of the newest generation of a database, signed and compressed, into one file (a bundle), from
which an edge without an origin answers. Its settings are the origin's (.env.example). The last line on standard output
is JSON: generation, documents, bytes, index_bytes, sha256, index_sha256, seconds; progress is on standard error.
With --processes (1 to 16, default 1) so many others render side by side: quicker where there are free cores.
With --keys it prints the public keys that verify them, as an origin has them at /.well-known/jwks.json.
Exit codes: 0 written; 2 an argument or a setting is wrong; 5 the database cannot be read; 1 anything else.`;

/** Reads the arguments of the command. @throws Error that says what is expected */
function readRenderCommand(args: readonly string[]): RenderCommand {
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

const intervalMs = 1000;

/** Says how far a rendering is, once a second. */
class Progress {
  readonly #say: (text: string) => void;
  readonly #started = performance.now();
  #saidAt = this.#started;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  readonly report = ({ documents, bytes }: BundleCounts): void => {
    const now = performance.now();
    if (now - this.#saidAt < intervalMs) return;
    this.#saidAt = now;
    const seconds = ((now - this.#started) / 1000).toFixed(1);
    this.#say(`${documents} documents, ${(bytes / 1e6).toFixed(1)} MB in ${seconds} s`);
  };
}

/** What was written. */
type WrittenBundle = BundleFile & { documents: number };

/** How far it is. */
type BundleCounts = { documents: number; bytes: number };

/** Writes a bundle block by block; of what was written, only where it is stays in memory. */
class BundleFileWriter {
  readonly #path: string;
  readonly #file: number;
  readonly #hash = new Bun.CryptoHasher("sha256");
  readonly #index = new BundleIndexWriter(sha256);
  #bytes = 0;

  /** Makes the file, or empties it. @throws Error of the system */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "w", 0o644);
    this.#append(new TextEncoder().encode(bundleMagic));
  }

  get documents(): number {
    return this.#index.documents;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add({ targets, bytes }: Block): void {
    this.#index.add(targets, bytes, this.#bytes);
    this.#append(bytes);
  }

  /** Writes what follows the blocks, and waits until all of it is on the disk. */
  finish(facts: BundleFacts): WrittenBundle {
    const { buckets, index } = this.#index.finish(facts, this.#bytes);
    this.#append(buckets);
    this.#append(index);
    fsyncSync(this.#file);
    closeSync(this.#file);
    return {
      documents: this.documents,
      bytes: this.#bytes,
      index_bytes: index.length,
      sha256: this.#hash.digest("base64url"),
      index_sha256: sha256(index).toString("base64url"),
    };
  }

  /** Deletes what was written. */
  discard(): void {
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }
}

function sha256(bytes: Uint8Array | string): Buffer {
  return new Bun.CryptoHasher("sha256").update(bytes).digest();
}

/**
 * Blocks as one process writes them for another: the bytes of the targets (JSON, u32), of the block (u32), both. What
 * ends in the middle of one is broken.
 */
export function encodeBlock({ targets, bytes }: Block): Uint8Array {
  const names = new TextEncoder().encode(JSON.stringify(targets));
  const encoded = new Uint8Array(prefixBytes + names.length + bytes.length);
  const view = new DataView(encoded.buffer);
  view.setUint32(0, names.length);
  view.setUint32(4, bytes.length);
  encoded.set(names, prefixBytes);
  encoded.set(bytes, prefixBytes + names.length);
  return encoded;
}

/** @throws Error when the stream ends in a block */
export async function* readBlocks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Block> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    for (let length = lengthOf(rest); length <= rest.length; length = lengthOf(rest)) {
      yield decodeBlock(rest);
      rest = rest.subarray(length);
    }
  }
  if (rest.length > 0) throw new Error("A process that renders a share ended in the middle of a block");
}

const prefixBytes = 8;

function lengthOf(bytes: Buffer): number {
  if (bytes.length < prefixBytes) return Number.POSITIVE_INFINITY;
  return prefixBytes + bytes.readUInt32BE(0) + bytes.readUInt32BE(4);
}

function decodeBlock(bytes: Buffer): Block {
  const blockAt = prefixBytes + bytes.readUInt32BE(0);
  const targets = JSON.parse(bytes.toString("utf8", prefixBytes, blockAt)) as string[];
  return { targets, bytes: new Uint8Array(bytes.subarray(blockAt, blockAt + bytes.readUInt32BE(4))) };
}
