import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FollowFailure, localFailure } from "../failure.ts";

// A generation becomes about three times as large. Deflate can make a thousand times.
const largestRatio = 32;
const smallestLimit = 64 * 1024 * 1024; // bytes: for small files, which are mostly empty pages

/** Unpacks a gzip file beside itself. @throws FollowFailure when it is none, or makes an unlikely large one */
export async function unpack(packed: string, path: string): Promise<void> {
  const limit = Math.max(smallestLimit, (await stat(packed)).size * largestRatio);
  const bounded = async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      yield chunk;
    }
  };
  try {
    await pipeline(
      createReadStream(packed),
      createGunzip(),
      bounded,
      createWriteStream(path, { mode: 0o640 }),
    );
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith("Z_")) throw localFailure(error, path);
    const found = (error as Error).message;
    throw new FollowFailure("unreadable_file", `The object is no whole gzip file (${found}). ${remedy}`);
  }
}

function tooLarge(limit: number): FollowFailure {
  return new FollowFailure(
    "unreadable_file",
    `The object unpacks to more than ${limit} bytes, ${largestRatio} times what it has. ${remedy}`,
  );
}

const remedy = "The writer signed it: see what it publishes.";
