import { expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import { encodeBlock, readBlocks } from "./run-render.ts";

const random = new Random();

function drawBlock(): Parameters<typeof encodeBlock>[0] {
  const targets = Array.from({ length: random.below(5) }, () => `/?category=${random.below(1e9)}Ł`);
  return { targets, bytes: Uint8Array.from({ length: random.below(2000) }, () => random.below(256)) };
}

/** The bytes in pieces of random lengths, as a pipe gives them. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const end = at + 1 + random.below(random.pick([3, 100, 5000]));
      controller.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
}

test(`blocks are read as they were written, whatever the pieces (seed ${random.seed})`, async () => {
  const blocks = Array.from({ length: 50 }, drawBlock);
  const stream = inPieces(Buffer.concat(blocks.map(encodeBlock)));
  expect(await Array.fromAsync(readBlocks(stream))).toEqual(blocks);
});

test(`a stream that ends in a block is an error (seed ${random.seed})`, async () => {
  for (let draw = 0; draw < 50; draw++) {
    const bytes = encodeBlock(drawBlock());
    const cut = bytes.slice(0, 1 + random.below(bytes.length - 1));
    await expect(Array.fromAsync(readBlocks(inPieces(cut)))).rejects.toThrow("in the middle of a block");
  }
});
