import { brotliDecompressSync } from "node:zlib";
import type { TestOrigin } from "./test-origin.ts";

const decoders: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array> = {
  identity: (bytes) => bytes,
  br: brotliDecompressSync,
  zstd: Bun.zstdDecompressSync,
  gzip: Bun.gunzipSync,
};

/** Asks for a content coding; `coded` are the bytes that came, `body` is what they decode to. */
export async function askIn(origin: TestOrigin, encoding: string, target = "/api/trending") {
  const response = await origin.ask(target, { headers: { "accept-encoding": encoding } });
  const coded = new Uint8Array(await response.arrayBuffer());
  const body = new Uint8Array(decoders[encoding]?.(coded) ?? []);
  return { ...response, status: response.status, headers: response.headers, coded, body };
}
