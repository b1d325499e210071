import { regionCodes } from "@trendvault/contract/regions";
import type { TokenList, TokenVerdict } from "@trendvault/contract/token";
import { countsOf, type ViewCounts, type ViewMessage } from "@trendvault/contract/views";
import type { RequestContext } from "../cache/revalidator.ts";
import type { BlockIncrement, CountedRank } from "../counting/increments.ts";
import type { IncrementBatches } from "./increment-batches.ts";
import { blockRanks, type ListBlock, type ListBlocks } from "./list-blocks.ts";
import type { TokenVerifier } from "./token-verifier.ts";

export type CountingServices = { verifier: TokenVerifier; lists: ListBlocks; batches: IncrementBatches };

/** How a message ended. `detail` repeats nothing of it. */
export type CountResult =
  | { kind: "counted" }
  | { kind: "invalid-message" | "token-refused" | "not-counted"; detail: string };

const verdicts: Record<Exclude<TokenVerdict, "valid">, string> = {
  malformed: "The token is malformed.",
  "unknown-key": "The token is signed by a key that is none of this site's origin.",
  tampered: "The token was changed.",
  "not-yet-valid": "The token is of the future.",
  expired: "The token is of a list that was served too long ago.",
};

/** Counts a message. Nothing is asked of anyone before its token is verified. */
export async function countViews(
  message: ViewMessage,
  context: RequestContext,
  { verifier, lists, batches }: CountingServices,
): Promise<CountResult> {
  const claims = await verifier.verify(message.token);
  if (typeof claims === "string") return { kind: "token-refused", detail: verdicts[claims] };
  if (!regionCodes.includes(claims.list.region)) {
    return { kind: "token-refused", detail: "The token is of a market that this edge does not have." };
  }
  const counts = countsOf(message, claims.list);
  if (typeof counts === "string") return { kind: "invalid-message", detail: counts };
  const increments: BlockIncrement[] = [];
  for (const block of blocksOf(counts)) {
    const videos = await lists.read(claims.list, block, context);
    if (videos === "gone") return { kind: "token-refused", detail: "The token's list was deleted." };
    if (videos === null) return { kind: "not-counted", detail: "The token's list cannot be read now." };
    increments.push(incrementOf(claims.list, counts, { block, videos }));
  }
  const isStored = await batches.add(claims.list.region, increments, context);
  return isStored ? { kind: "counted" } : { kind: "not-counted", detail: "The counters do not answer." };
}

function blocksOf({ firstSeen, lastSeen, opened }: ViewCounts): Set<number> {
  const blocks = new Set(opened.map(blockOf));
  for (let rank = firstSeen; rank <= lastSeen; rank++) blocks.add(blockOf(rank));
  return blocks;
}

function blockOf(rank: number): number {
  return Math.floor((rank - 1) / blockRanks);
}

function incrementOf(
  { window, category, generation }: TokenList,
  { firstSeen, lastSeen, opened }: ViewCounts,
  { block, videos }: { block: number; videos: ListBlock },
): BlockIncrement {
  const ranks: CountedRank[] = [];
  for (const [rank, videoId] of videos) {
    const looks = rank >= firstSeen && rank <= lastSeen ? 1 : 0;
    const views = opened.includes(rank) ? 1 : 0;
    if (looks + views > 0) ranks.push([rank, videoId, looks, views]);
  }
  return { window, category, generation, block, ranks };
}
