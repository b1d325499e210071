import { generationFolder, generationName, type Pointer } from "@trendvault/contract/pointer";
import type { ObjectStore } from "../store/object-store.ts";
import type { Break } from "./check-chain.ts";

/** What is left of the generations that a chain names. */
export type DataCounts = {
  there: number;
  /** Deleted by age. The newest one is always there. */
  thinned: number;
  /** Objects that no pointer of the chain names: of a publish that did not come to its end, for example. */
  unnamed: number;
  break: Break | null;
};

/** Counts the data objects of a chain, newest first; with `isRead`, each one is downloaded and hashed. @throws FollowFailure */
export async function checkData(
  store: ObjectStore,
  pointers: readonly Pointer[],
  { isRead, signal }: { isRead: boolean; signal: () => AbortSignal },
): Promise<DataCounts> {
  const names = new Set(await store.list(generationFolder));
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
  for (const pointer of isRead ? named : []) counts.break ??= await readObject(store, pointer, signal());
  return counts;
}

async function readObject(store: ObjectStore, pointer: Pointer, signal: AbortSignal): Promise<Break | null> {
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
  return generationName({ generation, sha256: file.sha256 });
}
