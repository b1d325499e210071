import { afterEach, beforeEach } from "bun:test";
import { brotliDecompressSync } from "node:zlib";
import {
  type BundleDocument,
  type BundleFile,
  type ReadRange,
  readBundleIndex,
  readDocument,
} from "@trendvault/contract/bundle-file";
import { edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { tokenMinute } from "@trendvault/contract/token";
import type { RequestHead } from "../../api/src/http/request-head.ts";
import { assembleOrigin, Origin } from "../../api/src/origin.ts";
import type { Answer } from "../../api/src/serving/answer.ts";
import { readSettings } from "../../api/src/settings.ts";
import { DatabaseBuilder, videos } from "./database.ts";
import { testEnvironment } from "./origin-process.ts";

export const testTime = 1_795_171_230_000; // milliseconds, in the middle of a minute
export const testMinute = tokenMinute(testTime);

export type TestOrigin = Awaited<ReturnType<typeof assembleOrigin>> & {
  origin: Origin;
  /** Moves the clock on by milliseconds, and lets the origin look at it and at the database. */
  pass(milliseconds?: number): void;
  ask(target: string, init?: RequestInit): Promise<Response>;
  logged: { level: string; event: string; message: string; facts: Record<string, unknown> }[];
};

/** The parts of an origin over a database file, without a port, without timers, with a clock that stands still. */
export async function openTestOrigin(path: string, env: Record<string, string> = {}): Promise<TestOrigin> {
  let now = testTime;
  const logged: TestOrigin["logged"] = [];
  const settings = readSettings({ ...testEnvironment, DB_PATH: path, ...env });
  const parts = await assembleOrigin(settings, {
    log: (level, event, message, facts = {}) => logged.push({ level, event, message, facts }),
    clock: () => now,
  });
  const origin = new Origin(parts);
  return {
    ...parts,
    origin,
    logged,
    pass(milliseconds = 0) {
      now += milliseconds;
      origin.tick(now);
    },
    ask: async (target, init) => responseOf(await origin.answer(headOf(target, init))),
  };
}

/** What an origin reads of a request. */
export function headOf(target: string, init: RequestInit = {}): RequestHead {
  const headers = new Headers(init.headers);
  return {
    method: init.method ?? "GET",
    target,
    edgeSignature: headers.get(edgeSignatureHeader),
    accept: headers.get("accept"),
    acceptEncoding: headers.get("accept-encoding"),
    acceptLanguage: headers.get("accept-language"),
    ifNoneMatch: headers.get("if-none-match"),
    traceparent: headers.get("traceparent"),
  };
}

/** What a client has of an answer. */
function responseOf({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}

/** What the tests of a file share: an empty database for each of them, and an origin over it once it was opened. */
export class OriginForEachTest {
  #builder: DatabaseBuilder | null = null;
  #origin: TestOrigin | null = null;

  /** Call it once in a file, outside of its tests. */
  constructor() {
    beforeEach(() => {
      this.#builder = new DatabaseBuilder();
    });
    afterEach(() => {
      this.#origin?.watcher.close();
      this.#origin = null;
      this.#builder?.remove();
    });
  }

  get builder(): DatabaseBuilder {
    if (this.#builder === null) throw new Error("There is a database in a test only");
    return this.#builder;
  }

  /** Opens an origin over the database, in the place of the one before. */
  async open(env: Record<string, string> = {}): Promise<TestOrigin> {
    this.#origin?.watcher.close();
    this.#origin = await openTestOrigin(this.builder.path, env);
    return this.#origin;
  }

  ask(target: string, init?: RequestInit): Promise<Response> {
    if (this.#origin === null) throw new Error("open() it first");
    return this.#origin.ask(target, init);
  }
}

/** An origin over a database with one generation. */
type PublishedOrigin = { builder: DatabaseBuilder; origin: TestOrigin };

/** Publishes 30 videos in GB, three in DE's list of the next hours, and two in DE's list of a category. */
export async function openPublishedOrigin(): Promise<PublishedOrigin> {
  const builder = new DatabaseBuilder();
  builder.publish([
    { region: "GB", videos: videos(30) },
    { region: "DE", window: "now", videos: videos(3) },
    { region: "DE", category: "Music", videos: videos(2) },
  ]);
  return { builder, origin: await openTestOrigin(builder.path) };
}

export function closePublishedOrigin({ builder, origin }: PublishedOrigin): void {
  origin.watcher.close();
  builder.remove();
}

const decoders: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array> = {
  identity: (bytes) => bytes,
  br: brotliDecompressSync,
  zstd: Bun.zstdDecompressSync,
  gzip: Bun.gunzipSync,
};

/** Asks for a content coding; `coded` are the bytes that came, `body` is what they decode to. */
export async function askIn(origin: TestOrigin, encoding: string, target = "/api/trending") {
  const response = await origin.ask(target, { headers: { "accept-encoding": encoding } });
  const coded = new Uint8Array(await response.arrayBuffer());
  const body = new Uint8Array(decoders[encoding]?.(coded) ?? []);
  return { ...response, status: response.status, headers: response.headers, coded, body };
}

/** A bundle in a file, read as the edge reads it. */
export type OpenBundle = {
  manifest: Awaited<ReturnType<typeof readBundleIndex>>["manifest"];
  read(target: string): Promise<BundleDocument | null>;
};

export async function openBundle(path: string, file: BundleFile): Promise<OpenBundle> {
  const read: ReadRange = ({ offset, bytes }) =>
    Bun.file(path)
      .slice(offset, offset + bytes)
      .bytes();
  const index = await readBundleIndex(file, read);
  return { manifest: index.manifest, read: (target) => readDocument(target, index, read) };
}
