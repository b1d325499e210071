import { gunzipSync } from "node:zlib";
import type { PublicKeySet } from "@trendvault/contract/keys";
import {
  hashPointer,
  longestPointer,
  objectNames,
  type Pointer,
  type PointerReader,
  verifyPointer,
} from "@trendvault/contract/pointer";
import { FollowFailure } from "./failure.ts";
import { type ObjectStore, readWhole } from "./stores.ts";

/**
 * Whether a store's history is whole, from the newest pointer back to the first, and what there is to say of it, a line
 * each. `name`: what its writer calls the store; `kept`: pointers that somebody has kept, one a line. With `isRead` each file with lists is downloaded and hashed.
 *
 * @throws FollowFailure
 */
export async function verifyHistory(
  store: ObjectStore,
  { name, keys, kept, isRead }: { name: string; keys: PublicKeySet; kept: string; isRead: boolean },
): Promise<{ isWhole: boolean; lines: string[] }> {
  const reader = { keys, store: name, now: Date.now() / 1000 };
  const signal = () => AbortSignal.timeout(timeoutSeconds * 1000);
  let found = await collectPointers(store, signal());
  let chain = await checkChain(found, reader);
  if (chain.break !== null) {
    found = await collectPointers(store, signal()); // the writer may have put pointers into a pack meanwhile
    chain = await checkChain(found, reader);
  }
  const data = await checkData(store, chain.pointers, { isRead, signal });
  return reportHistory(chain, { ...found, data, lost: await findLost(chain, kept) });
}

const timeoutSeconds = 600;

/** A pointer as it was found. Nothing of it is verified. */
type FoundPointer = { bytes: Uint8Array<ArrayBuffer>; sha256: string; name: string };

/** All pointers of a store, by generation. A generation has several when they differ. */
type FoundPointers = {
  current: FoundPointer | null;
  byGeneration: Map<number, FoundPointer[]>;
  packs: number;
  /** What is no break, and yet not as it should be, such as objects in the folder of pointers that are none. */
  strange: string[];
};

const largestPack = 64 * 1024 * 1024; // bytes, also unpacked: a day of a pointer a second has 43
const atOnce = 16;

/** Reads every pointer of a store, loose or in packs. @throws FollowFailure */
async function collectPointers(store: ObjectStore, signal: AbortSignal): Promise<FoundPointers> {
  const found: FoundPointers = { current: null, byGeneration: new Map(), packs: 0, strange: [] };
  const current = await readObject(store, objectNames.current, { largest: longestPointer, signal });
  if (current !== null) found.current = await describe(current, objectNames.current);
  const names = (await store.list(objectNames.pointerFolder, signal)).sort();
  for (let start = 0; start < names.length; start += atOnce) {
    const batch = names.slice(start, start + atOnce);
    await Promise.all(batch.map((name) => collect(store, name, { found, signal })));
  }
  return found;
}

type Collected = { found: FoundPointers; signal: AbortSignal };

/** What is no pointer of ours, or no pack, says nothing about those that are: whoever put it there must not hide a break. */
async function collect(store: ObjectStore, name: string, collected: Collected): Promise<void> {
  const isPack = name.startsWith(objectNames.packFolder);
  try {
    await (isPack ? collectPack(store, name, collected) : collectLoose(store, name, collected));
  } catch (error) {
    if (!(error instanceof FollowFailure) || error.reason !== "malformed") throw error;
    collected.found.strange.push(error.message);
  }
}

async function collectLoose(store: ObjectStore, name: string, { found, signal }: Collected): Promise<void> {
  const generation = /^([1-9][0-9]{0,14})\.json$/.exec(name.slice(objectNames.pointerFolder.length))?.[1];
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

/** The first place, seen from the newest pointer, where the chain is not what it must be. */
type Break = { generation: number; expected: string; found: string };

type Chain = {
  /** From the newest back to the first, or to the break. */
  pointers: Pointer[];
  /** The SHA-256 of each of them. */
  hashes: Set<string>;
  break: Break | null;
  /** Pointers of the store that no other one names: of a writer that lost against another, for example. */
  aside: number;
};

/** Follows the chain from current.json back to the first pointer. */
async function checkChain(found: FoundPointers, reader: PointerReader): Promise<Chain> {
  const chain: Chain = { pointers: [], hashes: new Set(), break: null, aside: 0 };
  let pointer = found.current;
  let next: Wanted | null = null;
  if (pointer === null) chain.break = { generation: 0, expected: "current.json", found: "nothing" };
  while (pointer !== null && chain.break === null) {
    next = await addPointer(chain, pointer, { next, found, reader });
    pointer = next === null ? null : choose(found, next);
    if (next !== null && pointer === null) chain.break ??= missing(found, next);
  }
  const all = [...found.byGeneration.values()].flat();
  chain.aside = all.filter(({ sha256 }) => !chain.hashes.has(sha256)).length;
  return chain;
}

/** Verifies a pointer and adds it. Gives which one must come before it; null for none, or after a break. */
async function addPointer(
  chain: Chain,
  { bytes, name, sha256 }: FoundPointer,
  { next, found, reader }: { next: Wanted | null; found: FoundPointers; reader: PointerReader },
): Promise<Wanted | null> {
  const verified = await verifyPointer(bytes, reader);
  if (verified.verdict !== "valid") {
    const expected = "a pointer that is signed by a known key";
    const generation = next?.generation ?? 0;
    chain.break = { generation, expected, found: `${name}, which is ${verified.verdict}` };
    return null;
  }
  const { pointer } = verified;
  chain.break = compare(pointer, { next, after: chain.pointers.at(-1), found, sha256 });
  if (chain.break !== null) return null;
  chain.pointers.push(pointer);
  chain.hashes.add(sha256);
  return pointer.previous && { ...pointer.previous, by: `generation ${pointer.generation}` };
}

type Wanted = { generation: number; sha256: string; by: string };

function compare(
  pointer: Pointer,
  {
    next,
    after,
    found,
    sha256,
  }: {
    next: Wanted | null;
    after: Pointer | undefined;
    found: FoundPointers;
    sha256: string;
  },
): Break | null {
  const { generation, published_at } = pointer;
  if (next !== null && generation !== next.generation)
    return { generation: next.generation, expected: `generation ${next.generation}`, found: `${generation}` };
  if (after !== undefined && published_at > after.published_at)
    found.strange.push(
      `generation ${generation} was signed at ${published_at}, the one after it at ${after.published_at}: a clock was wrong`,
    );
  const stored = found.byGeneration.get(generation) ?? [];
  if (stored.some((other) => other.sha256 === sha256)) return null;
  return {
    generation,
    expected: `pointers/${generation}.json with the SHA-256 ${sha256}, as current.json`,
    found: describePointers(stored),
  };
}

function choose({ byGeneration }: FoundPointers, { generation, sha256 }: Wanted): FoundPointer | null {
  return byGeneration.get(generation)?.find((pointer) => pointer.sha256 === sha256) ?? null;
}

function missing({ byGeneration }: FoundPointers, { generation, sha256, by }: Wanted): Break {
  return {
    generation,
    expected: `a pointer with the SHA-256 ${sha256}, as ${by} says`,
    found: describePointers(byGeneration.get(generation) ?? []),
  };
}

function describePointers(pointers: readonly FoundPointer[]): string {
  if (pointers.length === 0) return "nothing";
  return pointers.map(({ name, sha256 }) => `${name} with ${sha256}`).join(", ");
}

/** What is left of the generations that a chain names. */
type DataCounts = {
  there: number;
  /** Deleted by age. The newest one is always there. */
  thinned: number;
  /** Objects that no pointer of the chain names: of a publish that did not come to its end, for example. */
  unnamed: number;
  break: Break | null;
};

/** Counts the data objects of a chain, newest first; with `isRead`, each one is downloaded and hashed. @throws FollowFailure */
async function checkData(
  store: ObjectStore,
  pointers: readonly Pointer[],
  { isRead, signal }: { isRead: boolean; signal: () => AbortSignal },
): Promise<DataCounts> {
  const names = new Set(await store.list(objectNames.generationFolder, signal()));
  const named = pointers.filter((pointer) => names.has(nameOf(pointer)));
  const [newest] = pointers;
  const counts: DataCounts = {
    there: named.length,
    thinned: pointers.length - named.length,
    unnamed: names.size - new Set(named.map(nameOf)).size,
    break: null,
  };
  if (newest !== undefined && !names.has(nameOf(newest)))
    counts.break = { generation: newest.generation, expected: nameOf(newest), found: "nothing" };
  for (const pointer of isRead ? named : []) counts.break ??= await hashObject(store, pointer, signal());
  return counts;
}

async function hashObject(store: ObjectStore, pointer: Pointer, signal: AbortSignal): Promise<Break | null> {
  const { generation, file } = pointer;
  const opened = await store.open(nameOf(pointer), { signal });
  if (opened === null || opened === "unchanged") return null; // thinned meanwhile
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of opened.body) {
    bytes += chunk.length;
    hasher.update(chunk);
    if (bytes > file.bytes) break;
  }
  const sha256 = hasher.digest("base64url");
  if (bytes === file.bytes && sha256 === file.sha256) return null;
  const expected = `an object of ${file.bytes} bytes with the SHA-256 ${file.sha256}`;
  return {
    generation,
    expected,
    found: bytes > file.bytes ? `more than ${file.bytes} bytes` : `${bytes} bytes with ${sha256}`,
  };
}

function nameOf({ generation, file }: Pointer): string {
  return objectNames.generation({ generation, sha256: file.sha256 });
}

/** The first of the pointers that somebody has kept, one a line, that is not in the chain as it is. */
async function findLost(chain: Chain, kept: string): Promise<Break | null> {
  for (const line of kept.split("\n").filter((text) => text.trim() !== "")) {
    const sha256 = await hashPointer(new TextEncoder().encode(line));
    if (chain.hashes.has(sha256)) continue;
    const generation = Number(/"generation":([0-9]{1,15})/.exec(line)?.[1] ?? 0);
    const there = chain.pointers.find((pointer) => pointer.generation === generation);
    return {
      generation,
      expected: `the pointer that was kept, with the SHA-256 ${sha256}`,
      found: there === undefined ? "no such generation in the chain" : `another one, ${describeKept(there)}`,
    };
  }
  return null;
}

function describeKept({ published_at, file }: Pointer): string {
  return `signed at ${published_at}, of the object ${file.sha256}`;
}

/** What verify-history says, a line each. */
function reportHistory(
  chain: Chain,
  {
    data,
    packs,
    strange,
    lost,
  }: { data: DataCounts; packs: number; strange: readonly string[]; lost: Break | null },
): { isWhole: boolean; lines: string[] } {
  const reason = chain.break ?? lost ?? data.break;
  const [newest, first] = [chain.pointers[0], chain.pointers.at(-1)];
  const span =
    newest === undefined || first === undefined
      ? "no pointer"
      : `${count(chain.pointers.length, "pointer")}, from generation ${first.generation} (${first.published_at}) to ${newest.generation} (${newest.published_at}), ${count(packs, "pack")}`;
  const lines =
    reason === null
      ? [`whole: ${span}`]
      : [
          `broken at generation ${reason.generation || "unknown"}: expected ${reason.expected}; found ${reason.found}`,
          `whole until there, from the newest back: ${span}`,
        ];
  lines.push(`data: ${data.there} there, ${data.thinned} thinned`);
  if (chain.aside > 0) lines.push(`aside: ${count(chain.aside, "pointer")} that the chain does not name`);
  if (data.unnamed > 0)
    lines.push(`aside: ${count(data.unnamed, "data object")} that the chain does not name`);
  return { isWhole: reason === null, lines: [...lines, ...strange.map((what) => `strange: ${what}`)] };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
