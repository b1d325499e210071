import type { Transform } from "node:stream";

/** Content codings in the order of preference; a representation is found by the index here. */
export const encodings = ["identity", "br", "zstd", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

export const identity = 0;
const preferred = [1, 2, 3, identity];

/**
 * The index of the coding to answer with, or null when the client refuses all of them (RFC 9110, section
 * 12.5.3). Highest q-value first; ours decides among equals. A malformed element is ignored.
 */
export function chooseEncoding(header: string | null): number | null {
  if (header === null || header === "") return identity;
  const weights = readWeights(header);
  let best: number | null = null;
  let bestWeight = 0;
  for (const index of preferred) {
    const weight = weightOf(index, weights);
    if (weight > bestWeight) {
      best = index;
      bestWeight = weight;
    }
  }
  return best;
}

/** chooseEncoding that remembers: browsers send a handful of different headers. Bounded, since clients choose them. */
export function memoizedChooseEncoding(capacity = 64): (header: string | null) => number | null {
  const known = new Map<string, number | null>();
  return (header) => {
    if (header === null) return identity;
    const remembered = known.get(header);
    if (remembered !== undefined) return remembered;
    const chosen = chooseEncoding(header);
    if (known.size >= capacity) known.clear();
    if (header.length <= 200) known.set(header, chosen);
    return chosen;
  };
}

const element = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/i;

function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(",")) {
    const match = element.exec(part.trim());
    if (match === null) continue;
    const name = (match[1] ?? "").toLowerCase();
    weights.set(name === "x-gzip" ? "gzip" : name, match[2] === undefined ? 1 : Number(match[2]));
  }
  return weights;
}

// Unlisted, identity stays acceptable unless * excludes it, but after every coding that the header names.
function weightOf(index: number, weights: Map<string, number>): number {
  const named = weights.get(encodings[index] ?? "");
  if (named !== undefined) return named;
  const any = weights.get("*");
  if (index !== identity) return any ?? 0;
  return any === 0 ? 0 : Number.MIN_VALUE;
}

/** Fast, for a request that waits, or as small as is worth it, for what is built ahead. */
export type Compression = "fast" | "small";

/** A body that has to be coded. */
export type CodingRequest = { bytes: Uint8Array<ArrayBuffer>; encoding: Encoding; compression: Compression };

/** Codes a body at once. */
export function encode({ bytes, encoding, compression }: CodingRequest): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "identity":
      return bytes;
    case "br":
      return compressBrotli(bytes, isLong(bytes) ? "fast" : compression);
    case "zstd":
      return new Uint8Array(Bun.zstdCompressSync(bytes, { level: zstdLevel }));
    case "gzip":
      return Bun.gzipSync(bytes, { level: gzipLevel, library: "libdeflate" });
  }
}

/** Codes a body a part at a time, in another thread. Its bytes are not those of `encode`. */
export async function encodeInParts({ bytes, encoding }: CodingRequest): Promise<Uint8Array<ArrayBuffer>> {
  if (encoding === "identity") return bytes;
  const coder = createCoder(encoding, bytes.length);
  const coded = coder.toArray() as Promise<Uint8Array[]>;
  for (let start = 0; start < bytes.length; start += partBytes) {
    coder.write(bytes.subarray(start, start + partBytes));
  }
  coder.end();
  return new Uint8Array(Buffer.concat(await coded));
}

/** Whether there is one form of a body in a coding, whatever the compression: all but brotli are fast enough. */
export function hasOneForm({ bytes, encoding }: Pick<CodingRequest, "bytes" | "encoding">): boolean {
  return encoding !== "br" || isLong(bytes);
}

const partBytes = 65_536; // a millisecond of a thread, in the slowest coding

// The next level of each saves less than 2 % of a page of 24 items and costs as much again.
const zstdLevel = 3;
const gzipLevel = 6;

// A page of 25 in 64 and 166 us; the smaller is smaller by an eighth.
const brotliQuality: Record<Compression, number> = { fast: 2, small: 5 };

// More takes a quarter of a second at a stretch: the script of /docs, 1.7 MB, is smaller by a tenth then.
const largestCompressedWell = 262_144; // bytes

function isLong({ length }: Uint8Array): boolean {
  return length > largestCompressedWell;
}

// Loaded with the first use: it would take 6 ms of the start.
function loadZlib(): typeof import("node:zlib") {
  return require("node:zlib");
}

function compressBrotli(bytes: Uint8Array<ArrayBuffer>, compression: Compression): Uint8Array<ArrayBuffer> {
  const params = brotliParameters(bytes.length, compression);
  return new Uint8Array(loadZlib().brotliCompressSync(bytes, { params }));
}

function brotliParameters(length: number, compression: Compression): Record<number, number> {
  const { constants } = loadZlib();
  return {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality[compression],
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: 16, // 64 KB hold any page; the default takes 4 MB of memory for a moment
    [constants.BROTLI_PARAM_SIZE_HINT]: length,
  };
}

function createCoder(encoding: Exclude<Encoding, "identity">, length: number): Transform {
  const { constants, createBrotliCompress, createGzip, createZstdCompress } = loadZlib();
  switch (encoding) {
    case "br":
      return createBrotliCompress({ params: brotliParameters(length, "small") });
    case "zstd":
      return createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: zstdLevel } });
    case "gzip":
      return createGzip({ level: gzipLevel });
  }
}
