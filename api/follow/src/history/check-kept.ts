import { hashPointer, type Pointer } from "@trendvault/contract/pointer";
import type { Break, Chain } from "./check-chain.ts";

/** The first of the pointers that somebody has kept, one a line, that is not in the chain as it is. */
export async function findLost(chain: Chain, kept: string): Promise<Break | null> {
  for (const line of kept.split("\n").filter((text) => text.trim() !== "")) {
    const sha256 = await hashPointer(new TextEncoder().encode(line));
    if (chain.hashes.has(sha256)) continue;
    const generation = Number(/"generation":([0-9]{1,15})/.exec(line)?.[1] ?? 0);
    const there = chain.pointers.find((pointer) => pointer.generation === generation);
    return {
      generation,
      expected: `the pointer that was kept, with the SHA-256 ${sha256}`,
      found: there === undefined ? "no such generation in the chain" : `another one, ${describe(there)}`,
    };
  }
  return null;
}

function describe({ published_at, file }: Pointer): string {
  return `signed at ${published_at}, of the object ${file.sha256}`;
}
