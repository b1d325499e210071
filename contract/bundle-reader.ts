import { toBase64url } from "./base64url.ts";
import {
  type BundleDocument,
  type BundleFile,
  type BundleManifest,
  type BundleRange,
  bucketEntryBytes,
  bucketNumber,
  bundleMagic,
  directoryEntryBytes,
  documentPrefixBytes,
  shortHashBytes,
  trailerBytes,
} from "./bundle-format.ts";

/** Reads a range of the bundle's file. What it gives is checked; it may be a cache. */
export type ReadRange = (range: BundleRange) => Promise<Uint8Array<ArrayBuffer>>;

/** What was read is not what the signed pointer leads to. */
export class BrokenBundle extends Error {
  override name = "BrokenBundle";
}

/** The last `index_bytes` of a file, checked. */
export type BundleIndex = { manifest: BundleManifest; directory: Uint8Array; bytes: number };

/** Where the index is. */
export function indexRange({ bytes, index_bytes }: Pick<BundleFile, "bytes" | "index_bytes">): BundleRange {
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
