import { createHash } from "node:crypto";
import type { R2Bucket, R2GetOptions } from "@cloudflare/workers-types";
import type { Bucket } from "../src/bundle-store.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What happens to a read of a bucket instead of it, or to the bytes of its object. */
export type Fault = { read?: () => Promise<never>; bytes?: (bytes: Bytes) => Bytes };

/** A bucket in memory, with as much of R2's binding as the edge uses, and faults. */
export class MemoryBucket implements Bucket {
  readonly objects = new Map<string, Bytes>();
  /** The keys that were read, in order. */
  reads: string[] = [];
  /** What is wrong with a read of a key, if anything is. */
  fault: (key: string) => Fault = () => ({});

  constructor(objects: Iterable<[string, Bytes]> = []) {
    this.put(objects);
  }

  put(objects: Iterable<[string, Bytes]>): void {
    for (const [key, bytes] of objects) this.objects.set(key, bytes);
  }

  get = (async (key: string, options: R2GetOptions = {}) => {
    this.reads.push(key);
    const { read, bytes: change = (bytes: Bytes) => bytes } = this.fault(key);
    if (read !== undefined) return read();
    const stored = this.objects.get(key);
    if (stored === undefined) return null;
    const whole = change(stored);
    const etag = createHash("md5").update(whole).digest("hex");
    const object = { key, etag, size: whole.length };
    const { range, onlyIf } = options as {
      range?: { offset: number; length: number };
      onlyIf?: { etagDoesNotMatch?: string };
    };
    if (onlyIf?.etagDoesNotMatch === etag) return object;
    const part = range === undefined ? whole : whole.slice(range.offset, range.offset + range.length);
    return { ...object, body: new Blob([part]).stream(), arrayBuffer: async () => part.slice().buffer };
  }) as unknown as R2Bucket["get"];
}
