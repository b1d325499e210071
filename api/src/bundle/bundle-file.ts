import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import {
  type BundleDocument,
  type BundleFacts,
  type BundleFile,
  BundleIndexWriter,
  bundleMagic,
  encodeDocuments,
} from "@trendvault/contract/bundle-file";

/** What was written. */
export type WrittenBundle = BundleFile & { documents: number };

/** How far it is. */
export type BundleCounts = { documents: number; bytes: number };

/** Writes a bundle block by block; of what was written, only where it is stays in memory. */
export class BundleFileWriter {
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

/** A compressed block, and the targets of its documents in their order. */
export type Block = { targets: string[]; bytes: Uint8Array<ArrayBuffer> };

const blockBytes = 65_536; // inflated: a reader of one document inflates and keeps the others, too
const level = 6;

/** Packs documents into blocks in their order; one that is larger than a block has its own. */
export function* packBlocks(documents: Iterable<BundleDocument>): Generator<Block> {
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
  const bytes = Bun.deflateSync(encodeDocuments(documents), { level, library: "libdeflate" });
  return { targets: documents.map(({ target }) => target), bytes: new Uint8Array(bytes) };
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
