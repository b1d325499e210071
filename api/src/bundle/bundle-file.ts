import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import {
  type BundleFacts,
  type BundleFile,
  BundleIndexWriter,
  bundleMagic,
} from "@trendvault/contract/bundle-file";
import type { Block } from "./block-packer.ts";

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
