import { toBase64url } from "./keys.ts";
import type { BundlePointer } from "./pointer.ts";
import type { SignatureFields, SignedFields } from "./signature-base.ts";

/**
 * A bundle: every document of one generation in one file, of which a reader needs small ranges only. All numbers are
 * unsigned and big-endian; every hash is a SHA-256.
 *
 *     file     = magic | blocks | buckets | index
 *     index    = directory | manifest (JSON) | bytes of the directory (u32) | bytes of the manifest (u32) | magic
 *     directory = of each bucket: its bytes (u32), its hash (32)
 *     bucket   = entries in ascending order, 44 bytes each: the first 16 bytes of the hash of a target, offset (u48) and
 *                bytes (u32) of a block, the document's number in it (u16), the first 16 bytes of the block's hash
 *     block    = documents one after another, compressed (raw deflate, RFC 1951)
 *     document = bytes of the head (u16), bytes of the body (u32), head (JSON), body
 *
 * A target's bucket is the number in the first bits of its hash. The hash of the index is in the bundle's signed
 * pointer: so no range is trusted that does not lead to it, and a target that its bucket does not name has no document.
 */
type BundleManifest = {
  version: 1;
  generation: number;
  /** When the generation was published (RFC 3339). */
  generated_at: string;
  /** When everything in the bundle was signed, and its tokens issued: Unix time in seconds. */
  signed_at: number;
  documents: number;
  /** There are two to the power of so many buckets. */
  bucket_bits: number;
  /** Where the first bucket is; each of the others follows the one before. */
  buckets_at: number;
  /** The limits of lists that there are. */
  limits: number[];
  /** Whose lists there are: of all, unless several writers share the regions. An earlier writer of bundles did not say. */
  regions?: string[];
};

/** What the signed pointer says of a bundle. */
export type BundleFile = BundlePointer["bundle"];

/** What the origin answers to a request for a target. `fields` are the signed ones, with their signature. */
export type BundleDocument = {
  target: string;
  status: number;
  fields: SignedFields & SignatureFields;
  body: Uint8Array<ArrayBuffer>;
};

/** A part of a file. */
export type BundleRange = { offset: number; bytes: number };

const bundleMagic = "TVBUNDL1";
const trailerBytes = 16;
/** Of a bucket in the directory. */
const directoryEntryBytes = 36;
/** Of a document in its bucket. */
const bucketEntryBytes = 44;
/** Of a document, before its head. */
const documentPrefixBytes = 6;
/** So many bytes of the hash of a target, or of a block, are in an entry. */
const shortHashBytes = 16;
const mostBucketBits = 16;

/** The number in the first bits of a hash. */
function bucketNumber(hash: Uint8Array, bits: number): number {
  const [first = 0, second = 0] = hash;
  return ((first << 8) | second) >>> (mostBucketBits - bits);
}

/** Reads a range of the bundle's file. What it gives is checked; it may be a cache. */
export type ReadRange = (range: BundleRange) => Promise<Uint8Array<ArrayBuffer>>;

/** What was read is not what the signed pointer leads to. */
export class BrokenBundle extends Error {
  override name = "BrokenBundle";
}

/** The last `index_bytes` of a file, checked. */
export type BundleIndex = { manifest: BundleManifest; directory: Uint8Array; bytes: number };

/** Where the index is. */
function indexRange({ bytes, index_bytes }: Pick<BundleFile, "bytes" | "index_bytes">): BundleRange {
  return { offset: bytes - index_bytes, bytes: index_bytes };
}

/** Reads the index that a signed pointer names. @throws BrokenBundle, and what `read` throws */
export async function readBundleIndex(file: BundleFile, read: ReadRange): Promise<BundleIndex> {
  const range = indexRange(file);
  const index = await read(range);
  const isWhole = index.length === range.bytes && toBase64url(await sha256(index)) === file.index_sha256;
  if (!isWhole || index.length < trailerBytes) throw new BrokenBundle("its index is not the signed one");
  const trailer = index.subarray(index.length - trailerBytes);
  if (decode(trailer.subarray(8)) !== bundleMagic) throw new BrokenBundle("it is of another version");
  const directoryBytes = viewOf(trailer).getUint32(0);
  const manifestEnd = directoryBytes + viewOf(trailer).getUint32(4);
  const manifest = JSON.parse(decode(index.subarray(directoryBytes, manifestEnd))) as BundleManifest;
  return { manifest, directory: index.subarray(0, directoryBytes), bytes: file.bytes };
}

/**
 * The document of a canonical target, or null when the bundle has none, which is certain. Two reads: a bucket and a
 * block. @throws BrokenBundle, and what `read` throws
 */
export async function readDocument(
  target: string,
  index: BundleIndex,
  read: ReadRange,
): Promise<BundleDocument | null> {
  const hash = await sha256(new TextEncoder().encode(target) as Uint8Array<ArrayBuffer>);
  const found = bucketOf(hash, index);
  if (found.bytes === 0) return null;
  const bucket = await readChecked(found, read);
  const entry = findEntry(bucket, hash);
  if (entry === null) return null;
  const block = await inflate(await readChecked(entry, read));
  const document = documentAt(block, entry.number);
  if (document.target !== target) throw new BrokenBundle("an entry names the document of another target");
  return document;
}

type Checked = BundleRange & { hash: Uint8Array };

/** Where the bucket of a hash is. */
function bucketOf(hash: Uint8Array, { manifest, directory }: BundleIndex): Checked {
  const view = viewOf(directory);
  const start = bucketNumber(hash, manifest.bucket_bits) * directoryEntryBytes;
  let offset = manifest.buckets_at;
  for (let at = 0; at < start; at += directoryEntryBytes) offset += view.getUint32(at);
  return {
    offset,
    bytes: view.getUint32(start),
    hash: directory.subarray(start + 4, start + directoryEntryBytes),
  };
}

function findEntry(bucket: Uint8Array, hash: Uint8Array): (Checked & { number: number }) | null {
  for (let at = 0; at < bucket.length; at += bucketEntryBytes) {
    if (!startsWith(hash, bucket.subarray(at, at + shortHashBytes))) continue;
    const view = viewOf(bucket.subarray(at + shortHashBytes));
    return {
      offset: view.getUint16(0) * 2 ** 32 + view.getUint32(2),
      bytes: view.getUint32(6),
      number: view.getUint16(10),
      hash: bucket.subarray(at + 28, at + bucketEntryBytes),
    };
  }
  return null;
}

function documentAt(block: Uint8Array<ArrayBuffer>, number: number): BundleDocument {
  const view = viewOf(block);
  let at = 0;
  const bytesAt = () => documentPrefixBytes + view.getUint16(at) + view.getUint32(at + 2);
  for (let passed = 0; passed < number; passed++) at += bytesAt();
  const bodyAt = at + documentPrefixBytes + view.getUint16(at);
  const head = JSON.parse(decode(block.subarray(at + documentPrefixBytes, bodyAt)));
  return { ...head, body: block.slice(bodyAt, at + bytesAt()) };
}

/** A range whose hash begins with these bytes. */
async function readChecked({ hash, ...range }: Checked, read: ReadRange): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await read(range);
  if (bytes.length === range.bytes && startsWith(await sha256(bytes), hash)) return bytes;
  throw new BrokenBundle(`the bytes from ${range.offset} are not the signed ones`);
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** What is inflated was checked before: it is no larger than what the renderer wrote. */
async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

type Sha256 = (bytes: Uint8Array | string) => Uint8Array;

/** What only the renderer knows of a bundle. */
type BundleFacts = Pick<BundleManifest, "generation" | "generated_at" | "signed_at" | "limits" | "regions">;

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
  /** The bytes with which a file begins. */
  static get beginning(): Uint8Array {
    return new TextEncoder().encode(bundleMagic);
  }

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
  copyInto(trailer, 8, BundleIndexWriter.beginning);
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
