import type { UnsignedBundlePointer } from "./pointer.ts";
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
export type BundleManifest = {
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
export type BundleFile = UnsignedBundlePointer["bundle"];

/** What the origin answers to a request for a target. `fields` are the signed ones, with their signature. */
export type BundleDocument = {
  target: string;
  status: number;
  fields: SignedFields & SignatureFields;
  body: Uint8Array<ArrayBuffer>;
};

/** A part of a file. */
export type BundleRange = { offset: number; bytes: number };

export const bundleMagic = "TVBUNDL1";
export const trailerBytes = 16;
/** Of a bucket in the directory. */
export const directoryEntryBytes = 36;
/** Of a document in its bucket. */
export const bucketEntryBytes = 44;
/** Of a document, before its head. */
export const documentPrefixBytes = 6;
/** So many bytes of the hash of a target, or of a block, are in an entry. */
export const shortHashBytes = 16;
export const mostBucketBits = 16;

/** The number in the first bits of a hash. */
export function bucketNumber(hash: Uint8Array, bits: number): number {
  const [first = 0, second = 0] = hash;
  return ((first << 8) | second) >>> (mostBucketBits - bits);
}
