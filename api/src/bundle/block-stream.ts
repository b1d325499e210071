import type { Block } from "./block-packer.ts";

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
