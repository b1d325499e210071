import { createPrivateKey, sign } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type BundleDocument,
  type BundleFile,
  BundleIndexWriter,
  encodeDocuments,
} from "@trendvault/contract/bundle-file";
import { type AnswerKeyPurpose, pkcs8OfSeed } from "@trendvault/contract/keys";
import { type ListChoice, listLengths, listName, windows } from "@trendvault/contract/lists";
import {
  allPageLanguages,
  type FeedForm,
  feedTypes,
  feedUrl,
  frameSizes,
  mainLanguage,
  oembedUrl,
  pageUrl,
} from "@trendvault/contract/page";
import { paths, videoPath } from "@trendvault/contract/paths";
import { problemKinds, problemType } from "@trendvault/contract/problem";
import {
  explanationUrl,
  exportUrl,
  fieldSets,
  type PageStart,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/queries";
import { publicUrl, readRegionTable, regionCodes, useRegions } from "@trendvault/contract/regions";
import { tokenMinute } from "@trendvault/contract/token";
import { DatabaseUnreadable, DatabaseUnusable } from "../database/database-files.ts";
import { GenerationWatcher } from "../database/generation-watcher.ts";
import { type ListedChoices, ListReader } from "../database/list-reader.ts";
import type { ListPage, Store } from "../database/store.ts";
import type { FindRoute } from "../http/routes.ts";
import { splitTarget } from "../http/routes.ts";
import { readKeyFiles } from "../key-files.ts";
import { assembleAnswers, signingKeysOf } from "../origin.ts";
import { formatTime, Refusal } from "../resources/resource.ts";
import type { Builder, Snapshot } from "../serving/builder.ts";
import type { Signing } from "../serving/representation.ts";
import { readSettings, type Settings } from "../settings.ts";

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
  if (command.kind === "regions") return requireRegions(command.file);
  const settings = readSettings({ ...env, DB_PATH: command.database });
  return command.kind === "share"
    ? () => renderShare(command.share, { settings, write: output.bytes })
    : () => renderWhole(command, settings, { program, output });
}

/** What an origin with these settings has at /.well-known/jwks.json. */
async function printKeys(settings: Settings, output: Output): Promise<void> {
  output.line(JSON.stringify((await signingKeysOf(settings)).publicKeys));
}

/** @throws Error with what is wrong with a file of regions, or with the words of its languages */
function requireRegions(file: string): () => void {
  const { values, failures, leftOut } = readKeyFiles({ REGIONS_FILE: file });
  const faults = [...failures.map(({ message }) => message), ...leftOut];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  readRegionTable(values.REGIONS_TABLE ?? "");
  return () => {};
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
type RenderedBundle = WrittenBundle & { generation: number };

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

type BundleFacts = Parameters<BundleIndexWriter["finish"]>[0];

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
  | { kind: "regions"; file: string }
  | { kind: "bundle"; database: string; output: string; processes: number }
  | { kind: "share"; database: string; share: NamedShare };

const renderUsage = `Usage: bun api/dist/render.js --database FILE --output FILE [--processes N]
       bun api/dist/render.js --keys
       bun api/dist/render.js --check-regions FILE

Writes every document of the newest generation of a database, signed and compressed, into one file (a bundle), from
which an edge without an origin answers. Its settings are the origin's (.env.example). The last line on standard output
is JSON: generation, documents, bytes, index_bytes, sha256, index_sha256, seconds; progress is on standard error.
With --processes (1 to 16, default 1) so many others render side by side: quicker where there are free cores.
With --keys it prints the public keys that verify them, as an origin has them at /.well-known/jwks.json.
With --check-regions it says what is wrong with a file of regions and the words of its languages.
Exit codes: 0 written, or nothing is wrong; 2 an argument, a setting or that file is wrong; 5 the database cannot be read; 1 anything else.`;

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
      "check-regions": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return { kind: "help" };
  if (values.keys) return { kind: "keys" };
  const { "check-regions": regions } = values;
  if (regions !== undefined) return { kind: "regions", file: requirePath(regions, "check-regions") };
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
    this.#append(BundleIndexWriter.beginning);
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

/** What is rendered: the newest generation of a database, as it is answered at `now` (Unix time in milliseconds). */
type RenderInput = { settings: Settings; now: number };

/** A generation that is being rendered, whole or a share of it. */
type Rendering = {
  facts: BundleFacts;
  blocks(share: Share): Generator<Block>;
  close(): void;
};

/** Reads a generation as an origin does before it serves it. @throws Error that says what to do */
async function openRendering({ settings, now }: RenderInput): Promise<Rendering> {
  useRegions(settings.regions);
  const watcher = new GenerationWatcher(settings.databasePath);
  const generation = watcher.poll(now);
  if (generation === null)
    throw new DatabaseUnusable(`Cannot render ${settings.databasePath}: nothing was published yet`);
  const lists = new SharedLists(watcher);
  const { findRoute, builder } = await assembleAnswers(settings, {
    lists,
    clock: () => now,
    onBuilt: () => {},
  });
  for (const _ of lists.load(generation));
  watcher.read((store) => store.expectManyExplanations());
  const inventory = {
    regions: generation.regions,
    choices: lists.choicesOf(generation),
    videos: watcher.read((store) => generation.rankings.flatMap(({ id }) => store.readListedVideos(id))),
  };
  const snapshot = { generation, minute: tokenMinute(now) };
  const signers = {
    responses: signerOf(settings.signingSeeds),
    tokens: signerOf(settings.tokenSigningSeeds),
  };
  const renderer = new DocumentRenderer({ findRoute, builder, snapshot, signers });
  return {
    facts: {
      generation: generation.id,
      generated_at: formatTime(generation.publishedAt),
      signed_at: Math.floor(now / 1000),
      limits: bundledLimits,
      regions: [...generation.regions.keys()],
    },
    blocks: (share) => packBlocks(documentsOf(renderer, inventory, share)),
    close: () => watcher.close(),
  };
}

/** The lengths of the lists in a bundle: what page, element and package ask for, and the longest. */
const bundledLimits = [listLengths.defaultPage, listLengths.largestPage];

/** What there is in a generation. */
type Inventory = {
  /** Those that lists were made of. */
  regions: ReadonlyMap<string, unknown>;
  choices: ListedChoices;
  videos: ReturnType<Store["readListedVideos"]>;
};

/** One of `of` shares of the work, from 0. */
type Share = { index: number; of: number };

/** Documents that have much text in common: they come one after another, and are compressed together. */
type Related = Generator<BundleDocument>;

/**
 * Every document of a bundle once, related ones one after another; in shares, each is in one of them. What the origin
 * answers with a refusal, such as a video that was taken down, is not among them.
 */
function* documentsOf(renderer: DocumentRenderer, inventory: Inventory, share: Share): Related {
  const isMine = (number: number) => number % share.of === share.index;
  if (isMine(0)) {
    yield* documents(renderer, fixedTargets);
    yield* existing(renderer, [paths.robots, paths.sitemap]);
  }
  for (const [number, list] of [...listsOf(inventory)].entries()) {
    if (isMine(number)) yield* listDocuments(renderer, list);
  }
  const ids = new Set(inventory.videos.map(({ id }) => id));
  for (const [number, id] of [...ids].entries()) {
    if (isMine(number)) yield* existing(renderer, [videoPath(id)]);
  }
  const byRegion = Map.groupBy(inventory.videos, ({ region }) => region);
  for (const [number, listed] of [...byRegion.values()].entries()) {
    const targets = listed.map(({ id, ...place }) => explanationUrl(id, place as List));
    if (isMine(number)) yield* existing(renderer, targets);
  }
}

const fixedTargets = [
  ...[paths.regions, paths.about, paths.aboutPage, paths.docs, paths.openapi, paths.publicKeys],
  ...problemKinds.map(problemType),
];

type List = Pick<TrendingQuery, "region" | "window"> & ListChoice;

/** Every list that there is; where a category has no videos, it is empty. */
function* listsOf({ regions, choices }: Inventory): Generator<List> {
  for (const region of regionCodes.filter((code) => regions.has(code))) {
    for (const window of windows) {
      yield { region, window };
      for (const category of choices.categories) yield { region, window, category };
      for (const kind of choices.kindsIn(region)) yield { region, window, ...kind };
    }
  }
}

/** Each page of a list in every shape; those of people have the default length, and are not by language. */
function* listDocuments(renderer: DocumentRenderer, list: List): Related {
  yield* documents(renderer, exportsOf(list));
  for (const limit of bundledLimits) {
    for (let cursor: string | undefined, isLast = false; !isLast; ) {
      const query = { ...list, limit, cursor };
      const page = renderer.render(trendingUrl(query));
      yield page.document;
      yield* documents(
        renderer,
        fieldSets.map((fields) => trendingUrl({ ...query, fields })),
      );
      const made = limit === listLengths.defaultPage ? pagesOf : feedsOf;
      if (list.language === undefined) yield* documents(renderer, made(query));
      cursor = cursorOf(page);
      isLast = cursor === undefined;
    }
  }
}

function cursorOf({ next }: Rendered): string | undefined {
  return new URLSearchParams(next?.split("?")[1]).get("cursor") ?? undefined;
}

/** In the main language of the region; a list's first page over all categories in the others, too. */
function pagesOf(query: TrendingQuery): string[] {
  const isFirst = listName(query) === "" && query.cursor === undefined;
  const others = allPageLanguages().filter((lang) => isFirst && lang !== mainLanguage(query.region));
  const embedded = query.cursor === undefined ? [pageUrl(query, paths.embed)] : [];
  const all = [query, ...others.map((lang) => ({ ...query, lang }))];
  const site = publicUrl();
  const offered =
    query.cursor === undefined && site !== null ? frameSizes.map((size) => ({ site, size })) : [];
  const oembeds = offered.flatMap((frame) => all.map((page) => oembedUrl(page, frame)));
  return [...all.map((page) => pageUrl(page)), ...embedded, ...oembeds];
}

/** A feed is of a first page. */
function feedsOf({ cursor, ...list }: TrendingQuery): string[] {
  return cursor === undefined ? feedForms.map((form) => feedUrl({ ...list, form })) : [];
}

const feedForms = Object.keys(feedTypes) as FeedForm[];

/** The export of a list over all categories; that of all windows comes with the first. */
function exportsOf({ region, window, ...choice }: List): string[] {
  if (listName(choice) !== "") return [];
  const whole = window === windows[0] ? [exportUrl({ region, window: undefined })] : [];
  return [...whole, exportUrl({ region, window })];
}

function* existing(renderer: DocumentRenderer, targets: readonly string[]): Related {
  for (const target of targets) {
    const rendered = renderer.tryToRender(target);
    if (!(rendered instanceof Refusal)) yield rendered.document;
  }
}

function* documents(renderer: DocumentRenderer, targets: readonly string[]): Related {
  for (const target of targets) yield renderer.render(target).document;
}

/** `next` is the URL of the list's next page, null on the last and for what is no list. */
type Rendered = { document: BundleDocument; next: string | null };

type Parts = { findRoute: FindRoute; builder: Builder; snapshot: Snapshot; signers: Signers };

/** Answers targets as the origin does in one snapshot: by its routes, its resources and its signatures. */
class DocumentRenderer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The 200 to a canonical target. @throws Error when the origin would answer something else, or at another target */
  render(target: string): Rendered {
    const rendered = this.tryToRender(target);
    if (rendered instanceof Refusal) throw new Error(`Cannot render ${target}: ${rendered.detail}`);
    return rendered;
  }

  /** The same for what may not exist. @throws DatabaseUnreadable */
  tryToRender(target: string): Rendered | Refusal {
    const { findRoute, builder, snapshot, signers } = this.#parts;
    const { path, search } = splitTarget(target);
    const resource = findRoute(path)?.resolve(search) ?? unknownPath;
    if (resource instanceof Refusal) return resource;
    if (resource.url !== target) throw new Error(`Cannot render ${target}: it is ${resource.url}`);
    const signed = signAll(builder.sign(resource, snapshot), signers);
    if (signed instanceof Refusal) return signed;
    const { body, fields } = signed;
    return { document: { target, status: 200, fields, body: body.bytes }, next: body.next };
  }
}

const unknownPath = new Refusal("not-found", "there is no such path");

type Signers = Record<AnswerKeyPurpose, (bytes: Uint8Array) => Uint8Array<ArrayBuffer>>;

/**
 * Signs with the first seed, here and now: with signatures of another thread, as the origin has them, a bundle takes a
 * quarter longer.
 */
function signerOf([seed = new Uint8Array()]: readonly Uint8Array[]): Signers[AnswerKeyPurpose] {
  const key = createPrivateKey({ key: Buffer.from(pkcs8OfSeed(seed)), format: "der", type: "pkcs8" });
  return (bytes) => new Uint8Array(sign(null, bytes, key));
}

function signAll<T>(build: Signing<T>, signers: Signers): T {
  let step = build.next();
  while (!step.done) step = build.next(signers[step.value.purpose](step.value.bytes));
  return step.value;
}

/** Reads the rows of a page once for all of its shapes, as long as these are asked for one after another. */
class SharedLists extends ListReader {
  /** No list with titles in other languages is in a bundle, so that no page leads to one. */
  override regionsWithTitles(): string {
    return "";
  }

  #last: { key: string; page: ListPage | null } = { key: "", page: null };

  /** With what `fields=chart` needs, which the other shapes leave out. @throws DatabaseUnreadable */
  override readListPage(query: TrendingQuery, start: PageStart): ListPage | null {
    const { region, window, limit } = query;
    const key = JSON.stringify([region, window, listName(query), limit, start]);
    if (this.#last.key !== key) {
      this.#last = { key, page: super.readListPage({ ...query, fields: "chart" }, start) };
    }
    return this.#last.page;
  }
}

/** A compressed block, and the targets of its documents in their order. */
type Block = { targets: string[]; bytes: Uint8Array<ArrayBuffer> };

const blockBytes = 65_536; // inflated: a reader of one document inflates and keeps the others, too
const compressionLevel = 6;

/** Packs documents into blocks in their order; one that is larger than a block has its own. */
function* packBlocks(documents: Iterable<BundleDocument>): Generator<Block> {
  let waiting: BundleDocument[] = [];
  let bytes = 0;
  for (const document of documents) {
    if (waiting.length > 0 && bytes + document.body.length > blockBytes) {
      yield pack(waiting);
      [waiting, bytes] = [[], 0];
    }
    waiting.push(document);
    bytes += document.body.length;
  }
  if (waiting.length > 0) yield pack(waiting);
}

function pack(documents: BundleDocument[]): Block {
  const bytes = Bun.deflateSync(encodeDocuments(documents), {
    level: compressionLevel,
    library: "libdeflate",
  });
  return { targets: documents.map(({ target }) => target), bytes: new Uint8Array(bytes) };
}
