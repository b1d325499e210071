import type { PublicKeySet } from "@trendvault/contract/keys";
import { isFromFuture } from "@trendvault/contract/lists";
import {
  type BundlePointer,
  bundlePointerName,
  currentBundleName,
  verifyBundlePointer,
} from "@trendvault/contract/pointer";
import { LruMap } from "../cache/lru-map.ts";
import { cacheNotRead, nullOnError } from "../cache/null-on-error.ts";
import { nullAfter, SingleFlight } from "../cache/single-flight.ts";
import type { Logger } from "../log/logger.ts";
import { type BackoffOptions, backoffSeconds, longestBackoffSeconds } from "../rules/backoff.ts";
import { parseJson } from "../rules/parse-json.ts";
import { isStillAhead } from "../rules/still-ahead.ts";
import { utf8 } from "../rules/utf8.ts";
import type { BundleBucket } from "./bundle-bucket.ts";
import { notShared, type SharedBytes } from "./shared-bytes.ts";

type Options = {
  bucket: Pick<BundleBucket, "readPointer">;
  shared: Pick<SharedBytes, "match" | "put">;
  /** Those for publications verify pointers. */
  keys: PublicKeySet;
  /** What its writer calls the store. */
  store: string;
  timeoutSeconds: number;
  backoff: BackoffOptions;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};
type WaitUntil = (work: Promise<unknown>) => void;

/** A pointer as it was read. */
type Held = { pointer: BundlePointer; text: string; etag: string };
/** The same as isolates share it, with when the bucket was read (Unix seconds). */
type Shared = { text: string; etag: string; checkedAt: number };

/** How often a data centre reads the newest pointer, in seconds, give or take isolates that read at once. */
const pointerSeconds = 5;
const sharedSeconds = 86_400; // for as long, no isolate takes an older one
const olderSeconds = 3600;
const remembered = 64;

/** The signed pointers to bundles: the newest, and those of older generations. It never goes back to an older one. */
export class BundlePointers {
  readonly #options: Options;
  readonly #flights: SingleFlight<void>;
  readonly #older = new LruMap<BundlePointer>(remembered);
  #held: Held | null = null;
  #checkAt = 0;
  #failures = 0;
  #failure = "the bucket did not answer in time";

  constructor(options: Options) {
    this.#options = options;
    this.#flights = new SingleFlight(options.timeoutSeconds + 1);
  }

  /**
   * The newest pointer, and until when (Unix seconds) it counts as that. When a newer one cannot be read or is refused,
   * the one that is held stays it. @throws Error that says why there is none
   */
  async current(waitUntil: WaitUntil): Promise<{ pointer: BundlePointer; until: number }> {
    const longest = pointerSeconds + longestBackoffSeconds(this.#options.backoff);
    if (!isStillAhead(this.#checkAt, { now: this.#options.clock(), longest })) {
      await this.#flights.run("current", () => this.#check(waitUntil));
    }
    if (this.#held === null) throw new Error(this.#failure);
    return { pointer: this.#held.pointer, until: this.#checkAt };
  }

  /** The pointer of a generation, or null when it is gone. @throws Error when it cannot be read or is refused */
  async ofGeneration(generation: number, waitUntil: WaitUntil): Promise<BundlePointer | null> {
    const name = bundlePointerName(generation);
    const known = this.#older.get(name);
    if (known !== null) return known;
    const shared = await this.#readShared(name);
    const read = shared === null ? await this.#options.bucket.readPointer(name) : { bytes: shared };
    if (read === null || read === "unchanged") return null;
    const pointer = await this.#verify(read.bytes);
    if (pointer.generation !== generation) throw new Error(`${name} is of another generation`);
    this.#older.set(name, pointer);
    if (shared === null) this.#share(name, read.bytes, { seconds: olderSeconds, waitUntil });
    return pointer;
  }

  async #check(waitUntil: WaitUntil): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const shared = await this.#readSharedPointer();
      if (shared !== null && clock() < shared.checkedAt + pointerSeconds) {
        this.#checkAt = shared.checkedAt + pointerSeconds;
        return;
      }
      await this.#read();
      this.#failures = 0;
      this.#checkAt = clock() + pointerSeconds;
      this.#shareHeld(waitUntil);
    } catch (error) {
      this.#failures++;
      this.#checkAt = clock() + pointerSeconds + backoffSeconds(this.#failures, 0, this.#options.backoff);
      this.#failure = (error as Error).message;
      const message = "The newest bundle pointer could not be taken; the one that was read before is used.";
      if (this.#held !== null)
        log({ level: "error", event: "bundle_failed", message, reason: this.#failure });
    }
  }

  async #read(): Promise<void> {
    const read = await this.#options.bucket.readPointer(currentBundleName, this.#held?.etag);
    if (read === "unchanged") return;
    if (read === null) throw new Error(`${currentBundleName} is not there`);
    const text = new TextDecoder().decode(read.bytes);
    if (!(await this.#adopt({ text, etag: read.etag }))) {
      throw new Error(`${currentBundleName} is older than one that was read before`);
    }
  }

  /** Whether a pointer is not older than the one held; it is held then. @throws Error when it is not signed */
  async #adopt({ text, etag }: { text: string; etag: string }): Promise<boolean> {
    if (text === this.#held?.text) {
      this.#held = { ...this.#held, etag };
      return true;
    }
    const pointer = await this.#verify(utf8(text));
    if (this.#held !== null && this.#isOlder(pointer, this.#held.pointer)) return false;
    this.#held = { pointer, text, etag };
    return true;
  }

  // What may not be served any more is no lower bound: a store that was set up anew is older, and right.
  #isOlder(pointer: BundlePointer, held: BundlePointer): boolean {
    if (this.#options.clock() > publishedAt(held) + sharedSeconds) return false;
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

  /** The pointer that isolates share; an older one than is held is none. */
  async #readSharedPointer(): Promise<Shared | null> {
    const bytes = await this.#readShared(currentBundleName);
    const shared = bytes === null ? null : (parseJson(new TextDecoder().decode(bytes)) as Shared | null);
    if (shared === null || isFromFuture(shared.checkedAt, this.#options.clock())) return null;
    return (await this.#adopt(shared).catch(() => false)) ? shared : null; // what is bad is read anew
  }

  async #readShared(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const { shared, log } = this.#options;
    return nullAfter(Date.now() + 1000, nullOnError(shared.match(name), log, cacheNotRead));
  }

  #shareHeld(waitUntil: WaitUntil): void {
    if (this.#held === null) return;
    const { text, etag } = this.#held;
    const shared: Shared = { text, etag, checkedAt: this.#options.clock() };
    const bytes = utf8(JSON.stringify(shared));
    this.#share(currentBundleName, bytes, { seconds: sharedSeconds, waitUntil });
  }

  #share(
    name: string,
    bytes: Uint8Array<ArrayBuffer>,
    { seconds, waitUntil }: { seconds: number; waitUntil: WaitUntil },
  ): void {
    const { shared, log } = this.#options;
    waitUntil(nullOnError(shared.put(name, bytes, seconds), log, notShared));
  }
}

/** When a pointer was signed, in Unix seconds. */
export function publishedAt({ published_at }: BundlePointer): number {
  return Date.parse(published_at) / 1000;
}
