import { open } from "node:fs/promises";
import { FollowFailure, localFailure } from "../failure.ts";
import type { ObjectStore } from "../store/object-store.ts";

/** What an object must be: the pointer says so. */
export type ExpectedObject = { name: string; sha256: string; bytes: number };

/**
 * Writes an object to a file, if it is the one that is expected: so many bytes with that SHA-256 (base64url).
 *
 * @throws FollowFailure, which leaves a part of the file
 */
export async function downloadObject(
  store: ObjectStore,
  { name, sha256, bytes }: ExpectedObject,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<void> {
  const opened = await store.open(name, { signal });
  if (opened === null || opened === "unchanged")
    throw new FollowFailure("missing", `${store.address}/${name} is not there, but the pointer names it.`);
  const received = await write(opened.body, { path, largest: bytes });
  if (received.bytes === bytes && received.sha256 === sha256) return;
  const found = received.bytes > bytes ? "more" : `${received.bytes}`;
  throw new FollowFailure(
    "wrong_object",
    `${store.address}/${name} is not what was signed: ${found} bytes with the SHA-256 ${received.sha256}, expected ${bytes} with ${sha256}. ` +
      "It is asked for again; if that does not help, see who can write there.",
  );
}

/** Stops after `largest` bytes. */
async function write(
  body: AsyncIterable<Uint8Array>,
  { path, largest }: { path: string; largest: number },
): Promise<{ bytes: number; sha256: string }> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  const file = await openFile(path);
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > largest) break;
      hasher.update(chunk);
      await writeChunk(file, chunk, path);
    }
  } finally {
    await file.close();
  }
  return { bytes, sha256: hasher.digest("base64url") };
}

type FileHandle = Awaited<ReturnType<typeof open>>;

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "w", 0o640);
  } catch (error) {
    throw localFailure(error, path);
  }
}

async function writeChunk(file: FileHandle, chunk: Uint8Array, path: string): Promise<void> {
  try {
    for (let written = 0; written < chunk.length; ) {
      written += (await file.write(chunk, written)).bytesWritten;
    }
  } catch (error) {
    throw localFailure(error, path);
  }
}
