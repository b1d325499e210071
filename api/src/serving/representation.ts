import { type Body, digestOf } from "../resources/body.ts";
import { cachedFields } from "../resources/cache-policy.ts";
import { type Encoding, encodings } from "../resources/encodings.ts";
import type { ResponseSigner } from "../signing/response-signer.ts";

/** A body in one content coding, ready to be sent any number of times: as 200 and as 304. `bytes` is its length. */
export type Representation = { etag: string; ok: Response; notModified: Response; bytes: number };

/** Encodes, hashes and signs a body. `encoding` is an index. */
export type CreateRepresentation = (body: Body, encoding: number) => Promise<Representation>;

/** `now` gives Unix time in seconds, for the signature. */
export function representationFactory(signer: ResponseSigner, now: () => number): CreateRepresentation {
  return async (body, index) => {
    const encoding = encodings[index] ?? "identity";
    const digest = digestOf(body);
    const fields = {
      "content-type": body.contentType,
      "unencoded-digest": `sha-256=:${digest.toString("base64")}:`,
      etag: entityTag(digest, encoding),
    };
    const validators = { ...validity, etag: fields.etag };
    const signature = await signer.sign({ status: 200, fields }, now());
    const coding = encoding === "identity" ? {} : { "content-encoding": encoding };
    // A Blob is shared by all connections; bytes would be copied for each (12 stalled readers of 16 MB: 202 MB).
    const blob = new Blob([encode(body.bytes, encoding)]);
    return {
      etag: fields.etag,
      ok: new Response(blob, {
        headers: { ...validators, ...linkTo(body.next), ...fields, ...coding, ...signature },
      }),
      notModified: new Response(null, { status: 304, headers: validators }),
      bytes: blob.size,
    };
  };
}

// A 304 has these, too: a cache updates its stored answer with them (RFC 9110, section 15.4.5).
const validity = {
  ...cachedFields,
  vary: "Accept-Encoding",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Link",
};

// Strong, so that each coding needs its own (RFC 9110, section 8.8.3.3).
function entityTag(digest: Buffer, encoding: Encoding): string {
  const tag = digest.toString("base64url", 0, 16);
  return encoding === "identity" ? `"${tag}"` : `"${tag}-${encoding}"`;
}

function linkTo(next: string | null): { link?: string } {
  return next === null ? {} : { link: `<${next}>; rel="next"` };
}

// The next level of each saves less than 2 % of a page of 24 items and costs as much again.
function encode(bytes: Uint8Array<ArrayBuffer>, encoding: Encoding): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "identity":
      return bytes;
    case "br":
      return compressBrotli(bytes);
    case "zstd":
      return new Uint8Array(Bun.zstdCompressSync(bytes, { level: 3 }));
    case "gzip":
      return Bun.gzipSync(bytes, { level: 6, library: "libdeflate" });
  }
}

// Loaded with the first use: it would take 6 ms of the start.
function compressBrotli(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { brotliCompressSync, constants } = require("node:zlib") as typeof import("node:zlib");
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: 16, // 64 KB hold any page; the default takes 4 MB of memory for a moment
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return new Uint8Array(brotliCompressSync(bytes, { params }));
}
