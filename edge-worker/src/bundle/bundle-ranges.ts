import type { BundleRange } from "@trendvault/contract/bundle-file";
import { LruMap } from "../cache/lru-map.ts";
import { cacheNotRead, nullOnError } from "../cache/null-on-error.ts";
import { nullAfter, SingleFlight } from "../cache/single-flight.ts";
import type { Logger } from "../log/logger.ts";
import type { BundleBucket } from "./bundle-bucket.ts";
import { notShared, type SharedBytes } from "./shared-bytes.ts";

type Shared = Pick<SharedBytes, "match" | "put" | "delete">;
type Options = { bucket: BundleBucket; shared: Shared; timeoutSeconds: number; log: Logger };
type WaitUntil = (work: Promise<unknown>) => void;

const memoryCapacity = 8_000_000; // bytes; an isolate has 128 MB
const sharedSeconds = 3600; // a bundle is asked for while it is the newest, and some time for its next pages
const sharedReadSeconds = 1;

/**
 * Ranges of bundles' files: from this isolate's memory, else from the data centre's cache, else from the bucket. A file
 * never changes; what is read is for the caller to check, and to be forgotten when it is wrong.
 */
export class BundleRanges {
  readonly #memory = new LruMap<Uint8Array<ArrayBuffer>>(memoryCapacity, ({ length }) => length);
  readonly #flights: SingleFlight<Uint8Array<ArrayBuffer>>;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    this.#flights = new SingleFlight(options.timeoutSeconds + sharedReadSeconds);
  }

  /** @throws Error when the bucket fails */
  async read(name: string, range: BundleRange, waitUntil: WaitUntil): Promise<Uint8Array<ArrayBuffer>> {
    const key = keyOf(name, range);
    const known = this.#memory.get(key);
    if (known !== null) return known;
    const { value } = await this.#flights.run(key, () => this.#read(name, range, waitUntil));
    if (value === null) throw new Error("the bucket did not answer in time");
    return value;
  }

  /** Forgets a range that was wrong, so that the bucket is read again. */
  async forget(name: string, range: BundleRange): Promise<void> {
    const key = keyOf(name, range);
    this.#memory.delete(key);
    await nullOnError(this.#options.shared.delete(key), this.#options.log, cacheNotRead);
  }

  async #read(name: string, range: BundleRange, waitUntil: WaitUntil): Promise<Uint8Array<ArrayBuffer>> {
    const { bucket, shared, log } = this.#options;
    const key = keyOf(name, range);
    const found = await nullAfter(
      Date.now() + sharedReadSeconds * 1000,
      nullOnError(shared.match(key), log, cacheNotRead),
    );
    const bytes = found ?? (await bucket.readRange(name, range));
    this.#memory.set(key, bytes);
    if (found === null) waitUntil(nullOnError(shared.put(key, bytes, sharedSeconds), log, notShared));
    return bytes;
  }
}

function keyOf(name: string, { offset, bytes }: BundleRange): string {
  return `${name}/${offset}-${bytes}`;
}
