import {
  hashPointer,
  longestPointer,
  type Pointer,
  type PointerReader,
  pointerName,
  verifyPointer,
} from "@trendvault/contract/pointer";
import { type ObjectStore, readWhole } from "./store/object-store.ts";

export type GapOptions = {
  store: ObjectStore;
  reader: PointerReader;
  has: (generation: number) => boolean;
  retentionSeconds: number;
  signal: AbortSignal;
};

const mostAtOnce = 8; // each comes with its file, and all are on the disk at the same time

/**
 * The newest generations before one that the file should have and does not, along the chain of pointers, newest first.
 * Ends at the first that is too old, or whose pointer is not the one that the next one names.
 */
export async function findGaps(newest: Pointer, options: GapOptions): Promise<Pointer[]> {
  const since = Date.parse(newest.published_at) - options.retentionSeconds * 1000;
  const gaps: Pointer[] = [];
  let { previous } = newest;
  while (previous !== null && gaps.length < mostAtOnce) {
    const pointer = await readPointer(previous, options);
    if (pointer === null || Date.parse(pointer.published_at) < since) break;
    if (!options.has(pointer.generation)) gaps.push(pointer);
    previous = pointer.previous;
  }
  return gaps;
}

async function readPointer(
  { generation, sha256 }: { generation: number; sha256: string },
  { store, reader, signal }: GapOptions,
): Promise<Pointer | null> {
  const name = pointerName(generation);
  const opened = await store.open(name, { signal });
  if (opened === null || opened === "unchanged") return null; // in a pack, of the day before
  const bytes = await readWhole(opened, { largest: longestPointer, name });
  if ((await hashPointer(bytes)) !== sha256) return null;
  const verified = await verifyPointer(bytes, reader);
  return verified.verdict === "valid" ? verified.pointer : null;
}
