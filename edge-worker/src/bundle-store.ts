import type { R2Bucket } from "@cloudflare/workers-types";
import {
  BrokenBundle,
  type BundleIndex,
  type BundleRange,
  type ReadRange,
  readBundleIndex,
  readDocument,
} from "@trendvault/contract/bundle-file";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { isFromFuture } from "@trendvault/contract/lists";
import {
  type BundlePointer,
  bundleNames,
  longestPointer,
  verifyBundlePointer,
} from "@trendvault/contract/pointer";
import { LruMap } from "./cache.ts";
import type { Backoff, WaitUntil } from "./document-source.ts";
import { type Logger, nullOnError } from "./log.ts";
import type { CanonicalRequest } from "./policy.ts";
import { parseJson, readAnswer, type SignedAnswer, utf8 } from "./signed-answer.ts";
import { isBeforeDeadline, nullAfter, SingleFlight, timeLimit } from "./single-flight.ts";

/**
 * A document cannot be served: it is broken, too old, or not there. The bucket has given what it has, so that this says
 * nothing of other documents.
 */
export class DocumentFailure extends Error {}

const tooSlow = "no answer came in time";
const indexesCapacity = 4_000_000; // bytes of indexes
const largestIndex = 2_500_000; // bytes; one of the most buckets that there may be has fewer
const largestPart = 4_000_000; // bytes

type Options = {
  bucket: Bucket;
  /** What all names of the store begin with. */
  prefix: string;
  /** What its writer calls the store. */
  store: string;
  shared: SharedBytes;
  /** What documents and pointers have to be signed with. */
  keys: PublicKeySet;
  timeoutSeconds: number;
  backoff: Backoff;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

/** What one writer publishes in a bucket: signed pointers to bundles, and the documents in them. */
export class BundleStore {
  readonly pointers: BundlePointers;
  readonly prefix: string;
  readonly #ranges: BundleRanges;
  readonly #keys: PublicKeySet;
  readonly #clock: () => number;
  readonly #indexes = new LruMap<BundleIndex>(indexesCapacity, ({ directory }) => directory.length);

  constructor(options: Options) {
    const reads = { ...options, bucket: new BundleBucket(options) };
    this.pointers = new BundlePointers({ ...reads, open: (...opened) => this.#open(...opened) });
    this.prefix = options.prefix;
    this.#ranges = new BundleRanges(reads);
    this.#keys = options.keys;
    this.#clock = options.clock;
  }

  /** The lengths of the lists that a bundle has. @throws Error when it cannot be read or is broken */
  async limitsOf(pointer: BundlePointer, waitUntil: WaitUntil): Promise<number[]> {
    return (await this.#open(pointer, waitUntil)).manifest.limits;
  }

  /** Whose lists a bundle has; null: of all. @throws Error when it cannot be read or is broken */
  async regionsOf(pointer: BundlePointer, waitUntil: WaitUntil): Promise<string[] | null> {
    return (await this.#open(pointer, waitUntil)).manifest.regions ?? null;
  }

  /**
   * What the origin has signed as the answer to a request, or null when there is none, which is certain. @throws
   * DocumentFailure when it is broken, another Error when it cannot be read, or the bundle's index is broken
   */
  async read(
    canonical: CanonicalRequest,
    pointer: BundlePointer,
    waitUntil: WaitUntil,
  ): Promise<SignedAnswer | null> {
    const index = await this.#open(pointer, waitUntil);
    const read = (range: ReadRange) => readDocument(canonical.target, index, range);
    const document = await this.#checked(pointer, waitUntil, read).catch(asDocumentFailure);
    if (document === null) return null;
    const reader = { canonical, keys: this.#keys, now: this.#clock() };
    const { status, fields, body } = document;
    const received = { status, headers: new Headers(fields), body };
    const answer = await readAnswer(received, reader);
    if (typeof answer === "string") throw new DocumentFailure(`a document cannot be served: ${answer}`);
    return answer;
  }

  async #open(pointer: BundlePointer, waitUntil: WaitUntil): Promise<BundleIndex> {
    const { bundle, generation } = pointer;
    const known = this.#indexes.get(bundle.sha256);
    if (known !== null) return known;
    if (bundle.index_bytes > largestIndex) throw new BrokenBundle("its index is too large");
    const index = await this.#checked(pointer, waitUntil, (read) => readBundleIndex(bundle, read));
    if (index.manifest.version !== 1) throw new BrokenBundle("it is of another version");
    if (index.manifest.generation !== generation) throw new BrokenBundle("it is of another generation");
    this.#indexes.set(bundle.sha256, index);
    return index;
  }

  /** Reads of a bundle that are checked within; what was read is forgotten when they find it broken. */
  async #checked<T>(
    { generation, bundle }: BundlePointer,
    waitUntil: WaitUntil,
    work: (read: ReadRange) => Promise<T>,
  ): Promise<T> {
    const name = bundleNames.bundle({ generation, sha256: bundle.sha256 });
    const ranges: BundleRange[] = [];
    try {
      return await work((range) => {
        if (range.bytes > largestPart) throw new BrokenBundle("a part of it is too large");
        ranges.push(range);
        return this.#ranges.read(name, range, waitUntil);
      });
    } catch (error) {
      if (error instanceof BrokenBundle) {
        for (const range of ranges) waitUntil(this.#ranges.forget(name, range));
      }
      throw error;
    }
  }
}

function asDocumentFailure(error: Error): never {
  throw error instanceof BrokenBundle ? new DocumentFailure(error.message, { cause: error }) : error;
}

type ReadOptions = Omit<Options, "bucket"> & { bucket: BundleBucket };

type PointerOptions = ReadOptions & {
  /** Reads and checks a bundle's index, without which nothing of it can be read. @throws Error */
  open: (pointer: BundlePointer, waitUntil: WaitUntil) => Promise<unknown>;
};

/** A pointer as it was read. One that stands in for a newer one has no text. */
type Held = { pointer: BundlePointer; text?: string; etag?: string };
/** The same as isolates share it, with when the bucket was read (Unix seconds). */
type SharedPointer = { text: string; etag: string; checkedAt: number };

/** How often a data centre reads the newest pointer, in seconds, give or take isolates that read at once. */
const pointerSeconds = 5;
const patientMs = 1000; // of a read of the newest pointer: requests that have one do not wait for longer
const pointerSharedSeconds = 86_400; // for as long, no isolate takes an older one
const olderSeconds = 3600;
const remembered = 64;
const distances = [1, 2, 3, 256, 512, 768]; // of generations before one; see NUMBER_STEP in writer/src/Database/RegionTable.php

/**
 * The signed pointers to bundles: the newest whose bundle can be read, and those of older generations. It never goes back
 * to an older one.
 */
class BundlePointers {
  readonly #options: PointerOptions;
  readonly #flights: SingleFlight<void>;
  readonly #older = new LruMap<BundlePointer>(remembered);
  #held: Held | null = null;
  #checkAt = 0;
  #patientUntil = 0;
  #failures = 0;
  #failure = tooSlow;

  constructor(options: PointerOptions) {
    this.#options = options;
    this.#flights = new SingleFlight(options.timeoutSeconds + 1);
  }

  /**
   * The newest pointer, and until when (Unix seconds) it counts as that. When a newer one cannot be read or is refused,
   * the one that is held stays it. @throws Error that says why there is none
   */
  async current(waitUntil: WaitUntil): Promise<{ pointer: BundlePointer; until: number }> {
    const longest = pointerSeconds + this.#options.backoff.longestSeconds;
    if (!isBeforeDeadline(this.#checkAt, { now: this.#options.clock(), longest })) {
      const check = this.#flights.run("current", () => {
        this.#patientUntil = Date.now() + patientMs;
        return untilSettled(this.#check(waitUntil), waitUntil);
      });
      await nullAfter(this.#patientUntil, check);
      if (this.#held === null) await check;
    }
    if (this.#held === null) throw new Error(this.#failure);
    return { pointer: this.#held.pointer, until: this.#checkAt };
  }

  /** The pointer of a generation, or null when it is gone. @throws Error when it cannot be read or is refused */
  async ofGeneration(generation: number, waitUntil: WaitUntil): Promise<BundlePointer | null> {
    const name = bundleNames.pointer(generation);
    const known = this.#older.get(name);
    if (known !== null) return known;
    const verify = async (bytes: Uint8Array<ArrayBuffer>) => {
      const pointer = await this.#verify(bytes);
      if (pointer.generation !== generation) throw new Error(`${name} is of another generation`);
      this.#older.set(name, pointer);
      return pointer;
    };
    const bytes = await this.#readShared(name);
    const shared = bytes && (await verify(bytes).catch(() => null)); // what is bad is read anew
    if (shared !== null) return shared;
    const read = await this.#options.bucket.readPointer(name);
    if (read === null || read === "unchanged") return null;
    const pointer = await verify(read.bytes);
    this.#share(name, read.bytes, { seconds: olderSeconds, waitUntil });
    return pointer;
  }

  /** Whether the bucket has the pointer of a generation now. @throws Error when it cannot be read */
  async isThere(generation: number): Promise<boolean> {
    return (await this.#options.bucket.readPointer(bundleNames.pointer(generation))) !== null;
  }

  async #check(waitUntil: WaitUntil): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const shared = await this.#readSharedPointer(waitUntil);
      if (shared !== null && clock() < shared.checkedAt + pointerSeconds) {
        this.#checkAt = shared.checkedAt + pointerSeconds;
        return;
      }
      await this.#read(waitUntil);
      this.#failures = 0;
      this.#checkAt = clock() + pointerSeconds;
      this.#shareHeld(waitUntil);
    } catch (error) {
      this.#failures++;
      this.#checkAt = clock() + pointerSeconds + this.#options.backoff.secondsAfter(this.#failures);
      this.#failure = error instanceof Error ? error.message : String(error);
      const message = "The newest bundle pointer could not be taken; the one that was read before is used.";
      if (this.#held !== null)
        log({ level: "error", event: "bundle_failed", message, reason: this.#failure });
    }
  }

  async #read(waitUntil: WaitUntil): Promise<void> {
    const read = await this.#options.bucket.readPointer(bundleNames.current, this.#held?.etag);
    if (read === "unchanged") return;
    if (read === null) throw new Error(`${bundleNames.current} is not there`);
    const text = new TextDecoder().decode(read.bytes);
    if (!(await this.#adopt({ text, etag: read.etag }, waitUntil))) {
      throw new Error(`${bundleNames.current} is older than one that was read before`);
    }
  }

  /**
   * Whether a pointer is not older than the one held; it is held then. @throws Error when it is not signed, or its bundle
   * cannot be read: where none is held, the newest before it is, of which one can
   */
  async #adopt({ text, etag }: { text: string; etag: string }, waitUntil: WaitUntil): Promise<boolean> {
    if (text === this.#held?.text) {
      this.#held = { ...this.#held, etag };
      return true;
    }
    const pointer = await this.#verify(utf8(text));
    const isOlder = () => this.#held !== null && this.#isOlder(pointer, this.#held.pointer);
    if (isOlder()) return false;
    try {
      await this.#options.open(pointer, waitUntil);
    } catch (error) {
      const earlier = this.#held === null && (await this.before(pointer.generation, waitUntil));
      if (earlier) this.#held ??= { pointer: earlier };
      throw error;
    }
    if (!isOlder()) this.#held = { pointer, text, etag }; // a later check may have been faster
    return true;
  }

  /**
   * The newest pointer before a generation whose index can be read, or null when there is none within the last ones: of a
   * writer that shares the regions with others, numbers are far apart.
   */
  async before(generation: number, waitUntil: WaitUntil): Promise<BundlePointer | null> {
    for (const distance of distances) {
      if (distance >= generation) continue;
      const pointer = await this.ofGeneration(generation - distance, waitUntil).catch(() => null);
      const isWhole =
        pointer &&
        (await this.#options.open(pointer, waitUntil).then(
          () => true,
          () => false,
        ));
      if (isWhole) return pointer;
    }
    return null;
  }

  // What may not be served any more sets no limit: a store that was set up anew is older, and right.
  #isOlder(pointer: BundlePointer, held: BundlePointer): boolean {
    if (this.#options.clock() > publishedAt(held) + pointerSharedSeconds) return false;
    return (
      pointer.generation < held.generation ||
      (pointer.generation === held.generation && publishedAt(pointer) < publishedAt(held))
    );
  }

  async #verify(bytes: Uint8Array<ArrayBuffer>): Promise<BundlePointer> {
    const { keys, store, clock } = this.#options;
    const verified = await verifyBundlePointer(bytes, { keys, store, now: clock() });
    if (verified.verdict !== "valid") throw new Error(`its pointer is not valid: ${verified.verdict}`);
    return verified.pointer;
  }

  /** The pointer that isolates share; ignored when older than the one that is held. */
  async #readSharedPointer(waitUntil: WaitUntil): Promise<SharedPointer | null> {
    const bytes = await this.#readShared(bundleNames.current);
    const shared: Partial<SharedPointer> = Object(bytes && parseJson(new TextDecoder().decode(bytes)));
    if (!isShared(shared) || isFromFuture(shared.checkedAt, this.#options.clock())) return null;
    return (await this.#adopt(shared, waitUntil).catch(() => false)) ? shared : null; // what is bad is read anew
  }

  async #readShared(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const { shared, log } = this.#options;
    return nullOnError(timeLimit(sharedReadSeconds)(shared.match(name)), log, "cache_not_read");
  }

  #shareHeld(waitUntil: WaitUntil): void {
    const { text, etag } = this.#held ?? {};
    if (text === undefined || etag === undefined) return;
    const shared: SharedPointer = { text, etag, checkedAt: this.#options.clock() };
    const bytes = utf8(JSON.stringify(shared));
    this.#share(bundleNames.current, bytes, { seconds: pointerSharedSeconds, waitUntil });
  }

  #share(
    name: string,
    bytes: Uint8Array<ArrayBuffer>,
    { seconds, waitUntil }: { seconds: number; waitUntil: WaitUntil },
  ): void {
    const { shared, log } = this.#options;
    waitUntil(nullOnError(shared.put(name, bytes, seconds), log, "bundle_not_stored"));
  }
}

function isShared(read: Partial<SharedPointer>): read is SharedPointer {
  const { text, etag, checkedAt } = read;
  return typeof text === "string" && typeof etag === "string" && Number.isFinite(checkedAt);
}

/** Keeps a request alive for work that others wait for, too: what a request began and left never settles. */
function untilSettled<T>(work: Promise<T>, waitUntil: WaitUntil): Promise<T> {
  waitUntil(work.catch(() => {}));
  return work;
}

/** When a pointer was signed, in Unix seconds. */
export function publishedAt({ published_at }: BundlePointer): number {
  return Date.parse(published_at) / 1000;
}

const rangesCapacity = 8_000_000; // bytes; an isolate has 128 MB
const rangeSharedSeconds = 3600; // a bundle is asked for while it is the newest, and some time for its next pages
const sharedReadSeconds = 1;

/**
 * Ranges of bundles' files: from this isolate's memory, else from the data centre's cache, else from the bucket. A file
 * never changes; what is read is for the caller to check, and to be forgotten when it is wrong.
 */
class BundleRanges {
  readonly #memory = new LruMap<Uint8Array<ArrayBuffer>>(rangesCapacity, ({ length }) => length);
  readonly #flights: SingleFlight<Uint8Array<ArrayBuffer>>;
  readonly #options: ReadOptions;

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#flights = new SingleFlight(options.timeoutSeconds + sharedReadSeconds);
  }

  /** @throws Error when the bucket fails */
  async read(name: string, range: BundleRange, waitUntil: WaitUntil): Promise<Uint8Array<ArrayBuffer>> {
    const key = keyOf(name, range);
    const known = this.#memory.get(key);
    if (known !== null) return known;
    const { value } = await this.#flights.run(key, () =>
      untilSettled(this.#read(name, range, waitUntil), waitUntil),
    );
    if (value === null) throw new Error(tooSlow);
    return value;
  }

  /** Forgets a range that was wrong, so that the bucket is read again. */
  async forget(name: string, range: BundleRange): Promise<void> {
    const key = keyOf(name, range);
    this.#memory.delete(key);
    await nullOnError(this.#options.shared.delete(key), this.#options.log, "cache_not_read");
  }

  async #read(name: string, range: BundleRange, waitUntil: WaitUntil): Promise<Uint8Array<ArrayBuffer>> {
    const { bucket, shared, log } = this.#options;
    const key = keyOf(name, range);
    const found = await nullOnError(timeLimit(sharedReadSeconds)(shared.match(key)), log, "cache_not_read");
    const bytes = found ?? (await bucket.readRange(name, range));
    this.#memory.set(key, bytes);
    if (found === null)
      waitUntil(nullOnError(shared.put(key, bytes, rangeSharedSeconds), log, "bundle_not_stored"));
    return bytes;
  }
}

function keyOf(name: string, { offset, bytes }: BundleRange): string {
  return `${name}/${offset}-${bytes}`;
}

/** The bucket, as far as it is read. */
export type Bucket = Pick<R2Bucket, "get">;

/** The bytes of a pointer, and the entity tag that a later read names them with. */
type ReadPointer = { bytes: Uint8Array<ArrayBuffer>; etag: string };

/** Reads of objects under a prefix of an R2 bucket, each within a time. Nothing that is read is checked here. */
class BundleBucket {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * A pointer; null when there is none, "unchanged" when it is still the one with this entity tag. @throws Error when
   * the bucket fails
   */
  readPointer(name: string, etag?: string): Promise<ReadPointer | "unchanged" | null> {
    return this.#inTime(async () => {
      const options = etag === undefined ? {} : { onlyIf: { etagDoesNotMatch: etag } };
      const object = await this.#options.bucket.get(this.#keyOf(name), options);
      if (object === null) return null;
      if (!("body" in object)) return "unchanged";
      if (object.size > longestPointer) {
        await object.body.cancel();
        throw new Error(`${name} is longer than any pointer`);
      }
      return { bytes: new Uint8Array(await object.arrayBuffer()), etag: object.etag };
    });
  }

  /** A range of an object. @throws Error when the bucket fails or has no such object */
  readRange(name: string, { offset, bytes }: BundleRange): Promise<Uint8Array<ArrayBuffer>> {
    return this.#inTime(async () => {
      const range = { offset, length: bytes };
      const object = await this.#options.bucket.get(this.#keyOf(name), { range });
      if (object === null) throw new Error(`${name} is not there`);
      return new Uint8Array(await object.arrayBuffer());
    });
  }

  #keyOf(name: string): string {
    const { prefix } = this.#options;
    return prefix === "" ? name : `${prefix}/${name}`;
  }

  #inTime<T>(read: () => Promise<T>): Promise<T> {
    return timeLimit(this.#options.timeoutSeconds)(read());
  }
}

/** Bytes that the isolates of a data centre share, by name. */
type SharedBytes = {
  match: (name: string) => Promise<Uint8Array<ArrayBuffer> | null>;
  put: (name: string, bytes: Uint8Array<ArrayBuffer>, seconds: number) => Promise<void>;
  delete: (name: string) => Promise<unknown>;
};

/** The Cache API. `base` makes URLs of names, which are those of one store: of the one with the prefix. */
export function sharedByDataCentre(base: URL, prefix: string): SharedBytes {
  const open = () => caches.open("bundles-1");
  const urlOf = (name: string) => new URL(`/bundles/${prefix}/${name}`, base);
  return {
    match: async (name) => {
      const response = await (await open()).match(urlOf(name));
      return response === undefined ? null : new Uint8Array(await response.arrayBuffer());
    },
    put: async (name, bytes, seconds) => {
      const headers = { "cache-control": `max-age=${seconds}` };
      await (await open()).put(urlOf(name), new Response(bytes, { headers }));
    },
    delete: async (name) => (await open()).delete(urlOf(name)),
  };
}
