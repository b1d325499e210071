import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { isStoreName } from "@trendvault/contract/pointer";
import { FollowFailure } from "./failure.ts";
import type { Metrics } from "./metrics.ts";

/** An object that is being read. `body` gives its bytes as they are stored. */
type OpenedObject = {
  /** Names this version of it, to ask for another one only; null when the store does not say. */
  etag: string | null;
  /** How far the store's clock is ahead of ours, in seconds; null when it does not say. */
  clockSeconds: number | null;
  body: AsyncIterable<Uint8Array>;
};

type OpenOptions = {
  signal: AbortSignal;
  /** The version that is known: `unchanged` is the answer when there is no other one. */
  etag?: string | null;
};

/** What can be read of a store. Names are those of contract/pointer.ts, without the prefix. */
export type ObjectStore = {
  /** For messages: the address as it was given. */
  readonly address: string;
  /** Null when there is no such object. @throws FollowFailure */
  open(name: string, options: OpenOptions): Promise<OpenedObject | "unchanged" | null>;
  /** The names of all objects that begin with a text, in no order. @throws FollowFailure */
  list(beginning: string, signal: AbortSignal): Promise<string[]>;
};

/** All bytes of a small object. @throws FollowFailure when it has more than `largest` bytes, or cannot be read */
export async function readWhole(
  { body }: OpenedObject,
  { largest, name }: { largest: number; name: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > largest)
      throw new FollowFailure("malformed", `${name} has more than ${largest} bytes: it is none of ours.`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

/** What a store's address names. */
type StoreAddress =
  | { kind: "s3"; text: string; bucket: string; prefix: string }
  | { kind: "folder"; text: string };

function parseAddress(text: string): StoreAddress {
  if (!/^[a-z0-9]+:\/\//i.test(text)) {
    if (text === "") throw new Error('"" is no store: expected s3://bucket/prefix, or the path of a folder');
    return { kind: "folder", text };
  }
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  const isPrefix = /^[A-Za-z0-9._-]*(\/[A-Za-z0-9._-]+)*\/?$/.test(prefix);
  if (bucket === undefined || !isPrefix)
    throw new Error(`"${text}" is no store: expected s3://bucket/prefix, or the path of a folder`);
  const folder = prefix.replace(/\/$/, "");
  const address = folder === "" ? `s3://${bucket}` : `s3://${bucket}/${folder}`;
  return { kind: "s3", text: address, bucket, prefix: folder === "" ? "" : `${folder}/` };
}

/** `s3` is null when only folders are read. `metrics` count requests and bytes. */
export function openStore(address: StoreAddress, s3: S3Options | null, metrics?: Metrics): ObjectStore {
  const store = address.kind === "folder" ? new FolderStore(address.text) : openBucket(address, s3);
  return metrics === undefined ? store : countedStore(store, metrics);
}

function openBucket(address: StoreAddress & { kind: "s3" }, s3: S3Options | null): ObjectStore {
  if (s3 === null) throw new Error(`${address.text} cannot be read without S3_ENDPOINT_URL and a key`);
  return new S3Store(address.text, address, s3);
}

/** A store, with what its writer calls it in the pointers. */
type NamedStore = StoreAddress & { name: string };

/**
 * The store of an address, `s3://bucket`, `s3://bucket/prefix` or the path of a folder. Without a name, bucket and prefix
 * are it, as at the writer. @throws Error that says what was expected
 */
export function nameStore(address: string, given?: string): NamedStore {
  const store = parseAddress(address);
  const name = given ?? usualName(store);
  if (isStoreName(name)) return { ...store, name };
  const what = name === "" ? `${store.text} has no name of its own` : `"${name}" is no store's name`;
  throw new Error(
    `FOLLOW_NAMES (bin/verify-history: --name): ${what}: expected PUBLISH_NAME of its writer, or what follows s3:// in its PUBLISH_URL`,
  );
}

/** "" for a folder: who reads a copy has to say of what. */
function usualName(store: StoreAddress): string {
  return store.kind === "s3" ? store.text.slice("s3://".length) : "";
}

function countedStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const labels = { store: store.address };
  return {
    address: store.address,
    async open(name, options) {
      metrics.add("requests_total", labels);
      const opened = await store.open(name, options);
      if (opened === null || opened === "unchanged") return opened;
      return {
        ...opened,
        body: counted(opened.body, (bytes) => metrics.add("received_bytes_total", labels, bytes)),
      };
    },
    list: (beginning, signal) => store.list(beginning, signal),
  };
}

async function* counted(body: AsyncIterable<Uint8Array>, count: (bytes: number) => void) {
  for await (const chunk of body) {
    count(chunk.length);
    yield chunk;
  }
}

const mostHanging = 2; // each holds a thread
const chunkBytes = 256 * 1024;

/** A store as files in a folder: a copy of a bucket, or a mounted one, whose reads may hang. */
class FolderStore implements ObjectStore {
  readonly address: string;
  /** Reads that were given up and have not ended. */
  #hanging = 0;

  constructor(folder: string) {
    this.address = folder;
  }

  async open(name: string, { signal, etag }: OpenOptions): Promise<OpenedObject | "unchanged" | null> {
    const path = join(this.address, name);
    try {
      const { mtimeMs, size, ino } = await this.#within(signal, () => stat(path));
      const version = `${ino}-${size}-${mtimeMs}`;
      if (version === etag) return "unchanged";
      return { etag: version, clockSeconds: null, body: this.#read(path, signal) };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw readFailure(error, path);
    }
  }

  async *#read(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const flags = constants.O_RDONLY | constants.O_NONBLOCK; // a pipe is not waited for
    try {
      const opening = async () => {
        const file = await open(path, flags);
        if (signal.aborted) void file.close().catch(() => {}); // nobody waits for it any more
        return file;
      };
      const file = await this.#within(signal, opening);
      try {
        const found = await this.#within(signal, () => file.stat());
        if (!found.isFile()) throw new FollowFailure("unreachable", `Cannot read ${path}: it is no file.`);
        while (true) {
          const chunk = new Uint8Array(chunkBytes);
          const { bytesRead } = await this.#within(signal, () => file.read(chunk));
          if (bytesRead === 0) return;
          yield chunk.subarray(0, bytesRead);
        }
      } finally {
        void file.close().catch(() => {}); // which may hang, too
      }
    } catch (error) {
      throw readFailure(error, path);
    }
  }

  async #within<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    if (this.#hanging >= mostHanging)
      throw new FollowFailure(
        "timeout",
        `${this.address} took too long, and is read no more until it answers.`,
      );
    const working = work();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => {
      this.#hanging++;
      const end = () => this.#hanging--;
      working.then(end, end);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort);
    try {
      return await Promise.race([working, aborted]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async list(beginning: string, signal: AbortSignal): Promise<string[]> {
    const folder = join(this.address, beginning.slice(0, beginning.lastIndexOf("/") + 1));
    const reading = () => readdir(folder, { recursive: true, withFileTypes: true });
    try {
      const entries = await this.#within(signal, reading);
      const files = entries.filter((entry) => entry.isFile());
      return files
        .map((entry) => relative(this.address, join(entry.parentPath, entry.name)))
        .filter((name) => name.startsWith(beginning));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw readFailure(error, folder);
    }
  }
}

function readFailure(error: unknown, path: string): FollowFailure {
  if (error instanceof FollowFailure) return error;
  const { name, code = "" } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError" || name === "AbortError")
    return new FollowFailure("timeout", `${path} took too long: asked again.`, { cause: error });
  return new FollowFailure(code === "EACCES" ? "denied" : "unreachable", `Cannot read ${path} (${code}).`, {
    cause: error,
  });
}

/** Where an S3 store is, and who asks. `endpoint` is without the bucket: requests are path-style. */
type S3Options = {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
};

// A clock that is behind by less than this makes no difference: the store counts from the time that the URL names.
const urlSeconds = 3600;
const listSeconds = 60; // Bun's client takes no signal
const largestRefusal = 4096; // bytes of an error document that are read for its code

/**
 * A bucket, or a part of one, in anything that speaks S3. Bun signs URLs (SigV4 in the query), and fetch() asks with
 * them: Bun's own reader has no conditional requests and no signal to end them.
 */
class S3Store implements ObjectStore {
  readonly address: string;
  readonly #client: Bun.S3Client;
  readonly #prefix: string;

  /** `prefix` is empty, or ends with a slash. */
  constructor(address: string, { bucket, prefix }: { bucket: string; prefix: string }, options: S3Options) {
    this.address = address;
    this.#prefix = prefix;
    this.#client = new Bun.S3Client({ ...options, bucket, virtualHostedStyle: false });
  }

  async open(name: string, { signal, etag = null }: OpenOptions): Promise<OpenedObject | "unchanged" | null> {
    const response = await this.#fetch(name, { signal, etag });
    if (response.status === 304) return "unchanged";
    if (response.status === 200) return describe(response, name);
    const code = await readErrorCode(response);
    if (response.status === 404 && code !== "NoSuchBucket") return null;
    throw this.#refusal(response, { name, code });
  }

  async list(beginning: string, signal: AbortSignal): Promise<string[]> {
    const names: string[] = [];
    let continuationToken: string | undefined;
    do {
      if (signal.aborted) throw transportFailure(signal.reason, `The list of ${this.address}`);
      const page = await this.#listPage({
        prefix: this.#prefix + beginning,
        ...(continuationToken === undefined ? {} : { continuationToken }),
      });
      for (const { key } of page.contents ?? []) names.push(key.slice(this.#prefix.length));
      continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
    } while (continuationToken !== undefined);
    return names;
  }

  async #listPage(input: Bun.S3ListObjectsOptions): Promise<Bun.S3ListObjectsResponse> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () =>
        late.reject(new FollowFailure("timeout", `Listing ${this.address} took more than ${listSeconds} s.`)),
      listSeconds * 1000,
    );
    try {
      return await Promise.race([this.#client.list(input), late.promise]);
    } catch (error) {
      if (error instanceof FollowFailure) throw error;
      const { code = "", message } = error as { code?: string; message: string };
      throw new FollowFailure("status", `Cannot list ${this.address} (${code}): ${message}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetch(name: string, { signal, etag }: { signal: AbortSignal; etag: string | null }) {
    const url = this.#client.presign(this.#prefix + name, { method: "GET", expiresIn: urlSeconds });
    try {
      return await fetch(url, {
        headers: etag === null ? {} : { "if-none-match": etag },
        redirect: "manual", // elsewhere the signature would be no good
        decompress: false, // hashes are over what is stored
        signal,
      });
    } catch (error) {
      throw transportFailure(error, `${this.address}/${name}`);
    }
  }

  #refusal(response: Response, { name, code }: { name: string; code: string }): FollowFailure {
    const what = `${this.address}/${name} was answered with ${response.status}${code && ` (${code})`}`;
    const isDenied = response.status === 401 || response.status === 403;
    if (!isDenied) return new FollowFailure("status", `${what}. ${remedyOf(response.status)}`);
    const clockSeconds = clockOf(response) ?? 0;
    const isClock = code === "RequestTimeTooSkewed" || Math.abs(clockSeconds) > 60;
    const remedy = isClock
      ? `The store's clock says ${clockSeconds} s more than ours: set the clock of this machine`
      : "Expected S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY of somebody who may read it, and its S3_REGION";
    return new FollowFailure("denied", `${what}. ${remedy}.`);
  }
}

function describe(response: Response, name: string): OpenedObject {
  return {
    etag: response.headers.get("etag"),
    clockSeconds: clockOf(response),
    body: readBody(response, name),
  };
}

async function* readBody(response: Response, name: string): AsyncIterable<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw transportFailure(error, name);
  }
  const announced = Number(response.headers.get("content-length") ?? bytes);
  if (bytes === announced) return;
  throw new FollowFailure("unreachable", `${name} ended after ${bytes} of ${announced} bytes: asked again.`);
}

function transportFailure(error: unknown, name: string): FollowFailure {
  if (error instanceof FollowFailure) return error;
  const { name: kind, code = kind } = error as { name: string; code?: string };
  if (kind === "TimeoutError" || kind === "AbortError") {
    return new FollowFailure("timeout", `${name} took too long: asked again.`, { cause: error });
  }
  const remedy = "Is S3_ENDPOINT_URL right, and the network up?";
  return new FollowFailure("unreachable", `Cannot reach ${name} (${code}). ${remedy}`, { cause: error });
}

function remedyOf(status: number): string {
  if (status >= 500 || status === 429) return "The store has a problem: asked again.";
  if (status >= 300 && status < 400) return "Expected S3_ENDPOINT_URL and S3_REGION of the bucket itself.";
  return "Expected 200: are the address and S3_ENDPOINT_URL right?";
}

/** Rounded to whole seconds, as the field Date is. */
function clockOf(response: Response): number | null {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? null : Math.round((date - Date.now()) / 1000);
}

/** The code of an error document of S3, or "". */
async function readErrorCode(response: Response): Promise<string> {
  try {
    const text = await readBeginning(response, largestRefusal);
    return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(text)?.[1] ?? "";
  } catch {
    return ""; // the status says enough
  }
}

/** As many bytes as are wanted, or somewhat more; the rest, however much that is, is not waited for. */
async function readBeginning({ body }: Response, wanted: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= wanted) break;
  }
  return text;
}
