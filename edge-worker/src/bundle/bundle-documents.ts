import {
  BrokenBundle,
  type BundleDocument,
  type BundleIndex,
  type BundleRange,
  type ReadRange,
  readBundleIndex,
  readDocument,
} from "@trendvault/contract/bundle-file";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { type BundlePointer, bundleName } from "@trendvault/contract/pointer";
import { LruMap } from "../cache/lru-map.ts";
import { readAnswer, type SignedAnswer } from "../origin/read-answer.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import type { BundleRanges } from "./bundle-ranges.ts";
import { DocumentFailure } from "./document-failure.ts";

type WaitUntil = (work: Promise<unknown>) => void;

const memoryCapacity = 4_000_000; // bytes of indexes
const largestIndex = 2_500_000; // bytes; one of the most buckets that there may be has fewer
const largestPart = 4_000_000; // bytes

/** The documents of bundles, by the pointers that name them. */
export class BundleDocuments {
  readonly #ranges: BundleRanges;
  readonly #keys: PublicKeySet;
  readonly #clock: () => number;
  readonly #indexes = new LruMap<BundleIndex>(memoryCapacity, ({ directory }) => directory.length);

  /** `keys`: what documents have to be signed with. `clock`: Unix seconds. */
  constructor(ranges: BundleRanges, { keys, clock }: { keys: PublicKeySet; clock: () => number }) {
    this.#ranges = ranges;
    this.#keys = keys;
    this.#clock = clock;
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
    request: CanonicalRequest,
    pointer: BundlePointer,
    waitUntil: WaitUntil,
  ): Promise<SignedAnswer | null> {
    const index = await this.#open(pointer, waitUntil);
    const read = (range: ReadRange) => readDocument(request.target, index, range);
    const document = await this.#checked(pointer, waitUntil, read).catch(asDocumentFailure);
    if (document === null) return null;
    const reader = { request, keys: this.#keys, now: this.#clock() };
    const answer = await readAnswer(asReceived(document), reader);
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
    const name = bundleName({ generation, sha256: bundle.sha256 });
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

function asReceived({ status, fields, body }: BundleDocument) {
  return { status, headers: new Headers(fields), body };
}
