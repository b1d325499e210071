import {
  type BundleDocument,
  type BundleManifest,
  bucketEntryBytes,
  bucketNumber,
  bundleMagic,
  directoryEntryBytes,
  documentPrefixBytes,
  mostBucketBits,
  shortHashBytes,
  trailerBytes,
} from "./bundle-format.ts";

type Sha256 = (bytes: Uint8Array | string) => Uint8Array;

/** What only the renderer knows of a bundle. */
export type BundleFacts = Pick<
  BundleManifest,
  "generation" | "generated_at" | "signed_at" | "limits" | "regions"
>;

/** Documents one after another, as they are in a block before it is compressed. At most 65,536. */
export function encodeDocuments(documents: readonly BundleDocument[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const heads = documents.map(({ body: _, ...head }) => encoder.encode(JSON.stringify(head)));
  const lengths = documents.map(
    ({ body }, index) => documentPrefixBytes + (heads[index]?.length ?? 0) + body.length,
  );
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [index, { body }] of documents.entries()) {
    const head = heads[index] ?? new Uint8Array();
    view.setUint16(at, head.length);
    view.setUint32(at + 2, body.length);
    bytes.set(head, at + documentPrefixBytes);
    bytes.set(body, at + documentPrefixBytes + head.length);
    at += lengths[index] ?? 0;
  }
  return bytes;
}

/** Collects where the documents of a bundle are, 44 bytes each, and writes what follows the blocks. */
export class BundleIndexWriter {
  readonly #sha256: Sha256;
  #entries = new DataView(new ArrayBuffer(1024 * bucketEntryBytes));
  #count = 0;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  /** A compressed block at an offset of the file, with the targets of its documents in their order. */
  add(targets: readonly string[], block: Uint8Array, offset: number): void {
    const blockHash = this.#sha256(block);
    for (const [number, target] of targets.entries()) {
      const at = this.#grow();
      copyInto(this.#entries, at, this.#sha256(target).subarray(0, shortHashBytes));
      this.#entries.setUint16(at + shortHashBytes, Math.floor(offset / 2 ** 32));
      this.#entries.setUint32(at + shortHashBytes + 2, offset % 2 ** 32);
      this.#entries.setUint32(at + shortHashBytes + 6, block.length);
      this.#entries.setUint16(at + shortHashBytes + 10, number);
      copyInto(this.#entries, at + shortHashBytes + 12, blockHash.subarray(0, shortHashBytes));
    }
  }

  get documents(): number {
    return this.#count;
  }

  /** The buckets and the index, which belong at `offset`. @throws Error when two documents have one target */
  finish(facts: BundleFacts, offset: number): { buckets: Uint8Array; index: Uint8Array } {
    const bits = bitsFor(this.#count);
    const buckets = this.#sortedEntries();
    const directory = this.#directoryOf(buckets, bits);
    const manifest: BundleManifest = {
      version: 1,
      ...facts,
      documents: this.#count,
      bucket_bits: bits,
      buckets_at: offset,
    };
    return { buckets, index: joinIndex(directory, new TextEncoder().encode(JSON.stringify(manifest))) };
  }

  #grow(): number {
    const at = this.#count++ * bucketEntryBytes;
    if (at < this.#entries.byteLength) return at;
    const larger = new Uint8Array(this.#entries.byteLength * 2);
    larger.set(new Uint8Array(this.#entries.buffer));
    this.#entries = new DataView(larger.buffer);
    return at;
  }

  /** Buckets are beginnings of hashes: in the order of all hashes, each bucket is a part of the whole. */
  #sortedEntries(): Uint8Array {
    const entries = this.#entries;
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index * bucketEntryBytes);
    order.sort((left, right) => compareHashes(entries, left, right));
    const all = new Uint8Array(entries.buffer);
    const sorted = new Uint8Array(order.length * bucketEntryBytes);
    for (const [index, at] of order.entries()) {
      if (index > 0 && compareHashes(entries, order[index - 1] ?? 0, at) === 0) throw new Error(twice);
      sorted.set(all.subarray(at, at + bucketEntryBytes), index * bucketEntryBytes);
    }
    return sorted;
  }

  #directoryOf(sorted: Uint8Array, bits: number): Uint8Array {
    const directory = new Uint8Array(2 ** bits * directoryEntryBytes);
    const view = new DataView(directory.buffer);
    let start = 0;
    for (let bucket = 0; bucket < 2 ** bits; bucket++) {
      let end = start;
      while (end < sorted.length && bucketNumber(sorted.subarray(end, end + 2), bits) === bucket) {
        end += bucketEntryBytes;
      }
      view.setUint32(bucket * directoryEntryBytes, end - start);
      directory.set(this.#sha256(sorted.subarray(start, end)), bucket * directoryEntryBytes + 4);
      start = end;
    }
    return directory;
  }
}

const twice = "Cannot write a bundle in which two documents have one target";
const bucketEntries = 256; // of a bucket at most, on average: 11 KB

function bitsFor(documents: number): number {
  return Math.min(mostBucketBits, Math.max(0, Math.ceil(Math.log2(documents / bucketEntries))));
}

function joinIndex(directory: Uint8Array, manifest: Uint8Array): Uint8Array {
  const index = new Uint8Array(directory.length + manifest.length + trailerBytes);
  const trailer = new DataView(index.buffer, directory.length + manifest.length);
  index.set(directory);
  index.set(manifest, directory.length);
  trailer.setUint32(0, directory.length);
  trailer.setUint32(4, manifest.length);
  copyInto(trailer, 8, new TextEncoder().encode(bundleMagic));
  return index;
}

function copyInto({ buffer, byteOffset }: DataView, at: number, bytes: Uint8Array): void {
  new Uint8Array(buffer as ArrayBuffer).set(bytes, byteOffset + at);
}

function compareHashes(entries: DataView, left: number, right: number): number {
  for (let at = 0; at < shortHashBytes; at += 4) {
    const difference = entries.getUint32(left + at) - entries.getUint32(right + at);
    if (difference !== 0) return difference;
  }
  return 0;
}
