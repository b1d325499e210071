import type { ResponseSigner } from "../answers/response-signer.ts";
import { freshFor } from "../http/cache-policy.ts";
import { type Encoding, encodings } from "../http/encodings.ts";
import { type Draft, digestOf } from "./draft.ts";

/** A draft in one content coding, ready to be sent any number of times: as 200 and as 304. */
export type Representation = { etag: string; ok: Response; notModified: Response; bytes: number };

export type RepresentationMaker = (draft: Draft, encoding: number) => Promise<Representation>;

/** `now` is Unix time in seconds, for the signature. */
export function representationMaker(signer: ResponseSigner, now: () => number): RepresentationMaker {
  return async (draft, index) => {
    const encoding = encodings[index] ?? "identity";
    const digest = digestOf(draft);
    const fields = {
      "content-type": draft.contentType,
      "unencoded-digest": `sha-256=:${digest.toString("base64")}:`,
      etag: entityTag(digest, encoding),
    };
    const kept = { ...validity, etag: fields.etag };
    const signature = await signer.sign({ status: 200, fields }, now());
    const coding = encoding === "identity" ? {} : { "content-encoding": encoding };
    // A Blob is shared by all connections; bytes would be copied for each (12 stalled readers of 16 MB: 202 MB).
    const body = new Blob([encode(draft.body, encoding)]);
    return {
      etag: fields.etag,
      ok: new Response(body, {
        headers: { ...kept, ...linkTo(draft.next), ...fields, ...coding, ...signature },
      }),
      notModified: new Response(null, { status: 304, headers: kept }),
      bytes: body.size,
    };
  };
}

// What a 304 says, too: who keeps the answer renews it by these and has the rest (RFC 9110, section 15.4.5).
const validity = {
  ...freshFor,
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

// The levels where another one saves less than 2 % of a page of 24 and costs as much again.
function encode(body: Uint8Array<ArrayBuffer>, encoding: Encoding): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "identity":
      return body;
    case "br":
      return compressBrotli(body);
    case "zstd":
      return new Uint8Array(Bun.zstdCompressSync(body, { level: 3 }));
    case "gzip":
      return Bun.gzipSync(body, { level: 6, library: "libdeflate" });
  }
}

// Loaded with the first use: it would take 6 ms of the start.
function compressBrotli(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { brotliCompressSync, constants } = require("node:zlib") as typeof import("node:zlib");
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: 16, // 64 KB hold any page; the default takes 4 MB of memory for a moment
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  return new Uint8Array(brotliCompressSync(body, { params }));
}
