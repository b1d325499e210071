import type { Break, Chain } from "./check-chain.ts";
import type { DataCounts } from "./check-data.ts";

/** What verify-history says, a line each. */
export function reportHistory(
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
