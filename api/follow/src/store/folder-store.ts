import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { FollowFailure } from "../failure.ts";
import type { ObjectStore, OpenedObject, OpenOptions } from "./object-store.ts";

/** A store as files in a folder: a copy of a bucket, or a mounted one. */
export class FolderStore implements ObjectStore {
  readonly address: string;

  constructor(folder: string) {
    this.address = folder;
  }

  async open(name: string, { signal, etag }: OpenOptions): Promise<OpenedObject | "unchanged" | null> {
    const path = join(this.address, name);
    try {
      const { mtimeMs, size, ino } = await stat(path);
      const version = `${ino}-${size}-${mtimeMs}`;
      if (version === etag) return "unchanged";
      return { etag: version, clockSeconds: null, body: readFile(path, signal) };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw readFailure(error, path);
    }
  }

  async list(beginning: string): Promise<string[]> {
    const folder = join(this.address, beginning.slice(0, beginning.lastIndexOf("/") + 1));
    try {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return files
        .map((entry) => relative(this.address, join(entry.parentPath, entry.name)))
        .filter((name) => name.startsWith(beginning));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw readFailure(error, folder);
    }
  }
}

async function* readFile(path: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path, { signal });
  } catch (error) {
    throw readFailure(error, path);
  }
}

function readFailure(error: unknown, path: string): FollowFailure {
  const { code = "" } = error as NodeJS.ErrnoException;
  return new FollowFailure(code === "EACCES" ? "denied" : "unreachable", `Cannot read ${path} (${code}).`, {
    cause: error,
  });
}
