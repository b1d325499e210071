import { gunzipSync } from "node:zlib";
import {
  currentName,
  hashPointer,
  longestPointer,
  packFolder,
  pointerFolder,
} from "@trendvault/contract/pointer";
import { FollowFailure } from "../failure.ts";
import { type ObjectStore, readWhole } from "../store/object-store.ts";

/** A pointer as it was found. Nothing of it is verified. */
export type FoundPointer = { bytes: Uint8Array<ArrayBuffer>; sha256: string; name: string };

/** All pointers of a store, by generation. A generation has several when they differ. */
export type FoundPointers = {
  current: FoundPointer | null;
  byGeneration: Map<number, FoundPointer[]>;
  packs: number;
  /** What is no break, and yet not as it should be, such as objects in the folder of pointers that are none. */
  strange: string[];
};

const largestPack = 64 * 1024 * 1024; // bytes, also unpacked: a day of a pointer a second has 43
const atOnce = 16;

/** Reads every pointer of a store, loose or in packs. @throws FollowFailure */
export async function collectPointers(store: ObjectStore, signal: AbortSignal): Promise<FoundPointers> {
  const found: FoundPointers = { current: null, byGeneration: new Map(), packs: 0, strange: [] };
  const current = await readObject(store, currentName, { largest: longestPointer, signal });
  if (current !== null) found.current = await describe(current, currentName);
  const names = (await store.list(pointerFolder)).sort();
  for (let start = 0; start < names.length; start += atOnce) {
    const batch = names.slice(start, start + atOnce);
    await Promise.all(batch.map((name) => collect(store, name, { found, signal })));
  }
  return found;
}

type Collected = { found: FoundPointers; signal: AbortSignal };

/** What is no pointer of ours, or no pack, says nothing about those that are: whoever put it there must not hide a break. */
async function collect(store: ObjectStore, name: string, collected: Collected): Promise<void> {
  const isPack = name.startsWith(packFolder);
  try {
    await (isPack ? collectPack(store, name, collected) : collectLoose(store, name, collected));
  } catch (error) {
    if (!(error instanceof FollowFailure) || error.reason !== "malformed") throw error;
    collected.found.strange.push(error.message);
  }
}

async function collectLoose(store: ObjectStore, name: string, { found, signal }: Collected): Promise<void> {
  const generation = /^([1-9][0-9]{0,14})\.json$/.exec(name.slice(pointerFolder.length))?.[1];
  if (generation === undefined) {
    found.strange.push(`${name} is no pointer, and no pack`);
    return;
  }
  const bytes = await readObject(store, name, { largest: longestPointer, signal });
  if (bytes !== null) add(found, Number(generation), await describe(bytes, name));
}

async function collectPack(store: ObjectStore, name: string, { found, signal }: Collected): Promise<void> {
  const packed = await readObject(store, name, { largest: largestPack, signal });
  if (packed === null) return;
  found.packs++;
  for (const line of readLines(packed, name)) {
    const generation = /^\{"version":[0-9]+,(?:"store":"[^"]*",)?"generation":([1-9][0-9]{0,14}),/.exec(
      line,
    )?.[1];
    const bytes = new TextEncoder().encode(line);
    if (generation === undefined) found.strange.push(`${name} has a line that is no pointer`);
    else add(found, Number(generation), await describe(bytes, name));
  }
}

function readLines(packed: Uint8Array<ArrayBuffer>, name: string): string[] {
  try {
    const text = gunzipSync(packed, { maxOutputLength: largestPack }).toString();
    return text.split("\n").filter((line) => line !== "");
  } catch (error) {
    throw new FollowFailure("malformed", `${name} is no whole gzip file: ${(error as Error).message}`);
  }
}

async function readObject(
  store: ObjectStore,
  name: string,
  { largest, signal }: { largest: number; signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer> | null> {
  const opened = await store.open(name, { signal });
  return opened === null || opened === "unchanged" ? null : readWhole(opened, { largest, name });
}

async function describe(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<FoundPointer> {
  return { bytes, sha256: await hashPointer(bytes), name };
}

function add({ byGeneration }: FoundPointers, generation: number, pointer: FoundPointer): void {
  const others = byGeneration.get(generation) ?? [];
  if (others.some(({ sha256 }) => sha256 === pointer.sha256)) return;
  byGeneration.set(generation, [...others, pointer]);
}
