import type { R2Bucket } from "@cloudflare/workers-types";
import type { BundleRange } from "@trendvault/contract/bundle-file";
import { longestPointer } from "@trendvault/contract/pointer";
import { endOf, inTime } from "./in-time.ts";

/** The bucket, as far as it is read. */
export type Bucket = Pick<R2Bucket, "get">;

/** The bytes of a pointer, and the entity tag that a later read names them with. */
export type ReadPointer = { bytes: Uint8Array<ArrayBuffer>; etag: string };

type Options = { bucket: Bucket; prefix: string; timeoutSeconds: number };

/** Reads of objects under a prefix of an R2 bucket, each within a time. Nothing that is read is checked here. */
export class BundleBucket {
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
    return inTime(endOf(this.#options.timeoutSeconds), read());
  }
}
