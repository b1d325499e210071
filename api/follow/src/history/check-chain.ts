import { type Pointer, type PointerReader, verifyPointer } from "@trendvault/contract/pointer";
import type { FoundPointer, FoundPointers } from "./collect-pointers.ts";

/** The first place, seen from the newest pointer, where the chain is not what it must be. */
export type Break = { generation: number; expected: string; found: string };

export type Chain = {
  /** From the newest back to the first, or to the break. */
  pointers: Pointer[];
  /** The SHA-256 of each of them. */
  hashes: Set<string>;
  break: Break | null;
  /** Pointers of the store that no other one names: of a writer that lost against another, for example. */
  aside: number;
};

/** Follows the chain from current.json back to the first pointer. */
export async function checkChain(found: FoundPointers, reader: PointerReader): Promise<Chain> {
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
    found: describe(stored),
  };
}

function choose({ byGeneration }: FoundPointers, { generation, sha256 }: Wanted): FoundPointer | null {
  return byGeneration.get(generation)?.find((pointer) => pointer.sha256 === sha256) ?? null;
}

function missing({ byGeneration }: FoundPointers, { generation, sha256, by }: Wanted): Break {
  return {
    generation,
    expected: `a pointer with the SHA-256 ${sha256}, as ${by} says`,
    found: describe(byGeneration.get(generation) ?? []),
  };
}

function describe(pointers: readonly FoundPointer[]): string {
  if (pointers.length === 0) return "nothing";
  return pointers.map(({ name, sha256 }) => `${name} with ${sha256}`).join(", ");
}
