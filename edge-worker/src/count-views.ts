import type { KeyRing, PublicKeySet } from "@trendvault/contract/keys";
import { choiceOf, type ListChoice, listLengths, viewsAcceptedSeconds } from "@trendvault/contract/lists";
import { paths } from "@trendvault/contract/paths";
import { type TrendingQuery, trendingUrl, writeCursor } from "@trendvault/contract/queries";
import { regionCodes } from "@trendvault/contract/regions";
import { type TokenClaims, type TokenList, type TokenVerdict, verifyToken } from "@trendvault/contract/token";
import { countsOf, type ViewCounts, type ViewMessage } from "@trendvault/contract/views";
import type { BundleReader, ListPage } from "./bundle-source.ts";
import { LruMap } from "./cache.ts";
import { listInTokens } from "./document-signer.ts";
import type { Logger } from "./log.ts";
import type { BlockIncrement } from "./minute-counts.ts";
import type { CanonicalRequest } from "./policy.ts";
import { readPublicationIndex } from "./publication-index.ts";
import type { ReadThroughCache, RequestContext } from "./read-through.ts";
import { parseJson, type StoredResponse } from "./signed-answer.ts";
import type { IncrementBatches, ServedLists, ViewShards } from "./view-shards.ts";

/** What counting shares between the requests of one isolate. `clock` gives Unix seconds. */
export type ViewServices = {
  verifier: TokenVerifier;
  lists: ListBlocks;
  batches: IncrementBatches;
  served: ServedLists;
  shards: ViewShards;
  /** Whose pulls are answered. */
  pullKeys: KeyRing;
  clock: () => number;
  log: Logger;
};

/** How a message ended. `detail` repeats nothing of it. */
type CountResult =
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
  context: RequestContext & { network: string },
  { verifier, lists, batches }: Pick<ViewServices, "verifier" | "lists" | "batches">,
): Promise<CountResult> {
  const claims = await verifier.verify(message.token);
  if (typeof claims === "string") return { kind: "token-refused", detail: verdicts[claims] };
  if (!regionCodes.includes(claims.list.region)) {
    return { kind: "token-refused", detail: "The token is of a region that this edge does not have." };
  }
  const counts = countsOf(message, claims.list);
  if (typeof counts === "string") return { kind: "invalid-message", detail: counts };
  const blocks: BlockIncrement[] = [];
  for (const block of blocksOf(counts)) {
    const videos = await lists.read(claims.list, block, context);
    if (videos === "gone") return { kind: "token-refused", detail: "The token's list was deleted." };
    if (videos === null) return { kind: "not-counted", detail: "The token's list cannot be read now." };
    const increment = incrementOf(claims.list, counts, { block, videos });
    if (increment.ranks.length > 0) blocks.push(increment);
  }
  if (blocks.length === 0) return { kind: "counted" }; // of such videos alone: nor is their sender
  const isStored = await batches.add(claims.list.region, { counts, blocks }, context);
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
  const ranks: BlockIncrement["ranks"] = [];
  for (const [rank, videoId] of videos) {
    const impressions = rank >= firstSeen && rank <= lastSeen ? 1 : 0;
    const clicks = opened.includes(rank) ? 1 : 0;
    if (impressions + clicks > 0) ranks.push([rank, videoId, impressions, clicks]);
  }
  return { window, category, generation, block, ranks };
}

/** The videos of 50 ranks, by rank; not those that were removed or are made for kids, of which nothing is counted. */
type ListBlock = ReadonlyMap<number, string>;

const blockRanks = listLengths.largestPage;
const rememberedBlocks = 1024; // blocks of some 5 KB each

/**
 * Which video has which rank in a generation's list. Lists are read from bundles where there are any, else as any
 * visitor reads them, by the page of 50 ranks: one for all the lengths of pages that sites show.
 */
export class ListBlocks {
  readonly #cache: ReadThroughCache;
  readonly #bundled: BundleReader | null;
  readonly #blocks = new LruMap<ListBlock>(rememberedBlocks);

  /** `bundled`: null where no bundles are read. */
  constructor(cache: ReadThroughCache, bundled: BundleReader | null = null) {
    this.#cache = cache;
    this.#bundled = bundled;
  }

  /** Block 0 has the ranks 1 to 50. Null when the list cannot be read now, "gone" when it never can be again. */
  async read(list: TokenList, block: number, context: RequestContext): Promise<ListBlock | "gone" | null> {
    const { region, window, category, generation } = list;
    const key = JSON.stringify([region, window, category, generation, block]);
    const known = this.#blocks.get(key);
    if (known !== null) return known;
    const choice = await this.#choiceOf(category, context);
    if (choice === null) return null;
    const query = { region, window, limit: blockRanks, ...choice };
    const cursor = writeCursor({ generation, afterRank: block * blockRanks });
    const page =
      (await this.#readBundled(query, { generation, block }, context)) ??
      (await this.#readPage({ ...query, cursor }, context));
    if (page instanceof Map) this.#blocks.set(key, page);
    return page;
  }

  async #readBundled(
    query: TrendingQuery,
    place: { generation: number; block: number },
    { waitUntil }: RequestContext,
  ): Promise<ListBlock | null> {
    const page = (await this.#bundled?.readRanks(query, place, waitUntil)) ?? null;
    return page && ranksOf(page);
  }

  async #readPage(query: TrendingQuery, context: RequestContext): Promise<ListBlock | "gone" | null> {
    const canonical = { ...canonicalOf(trendingUrl(query), query), wasPublished: true }; // its token is verified
    const stored = await this.#cache.match(canonical.target);
    if (stored?.status === 200) return readRanks(stored); // of any age: a generation's ranks do not change
    const result = await this.#cache.read(canonical, context);
    if (result.kind === "refused") return "gone";
    return result.kind === "response" && result.response.status === 200 ? readRanks(result.response) : null;
  }

  /** What a list's name in a token selects; for a hash, the published category that has it. */
  async #choiceOf(name: string, context: RequestContext): Promise<ListChoice | null> {
    const choice = choiceOf(name);
    if (!choice.category?.startsWith("#")) return choice;
    const result = await this.#cache.read(canonicalOf(paths.regions, null), context);
    if (result.kind !== "response") return null;
    for (const category of readPublicationIndex(result.response.body).categories) {
      if ((await listInTokens({ category })) === name) return { category };
    }
    return null;
  }
}

function readRanks({ body }: StoredResponse): ListBlock {
  return ranksOf(parseJson(body) as Partial<ListPage> | null);
}

function ranksOf(page: Partial<ListPage> | null): ListBlock {
  return new Map(page?.items?.flatMap(({ rank, id, made_for_kids }) => (made_for_kids ? [] : [[rank, id]])));
}

function canonicalOf(target: string, query: TrendingQuery | null): CanonicalRequest {
  return { target, query, regionFromCountry: false };
}

const rememberedTokens = 1024;

/** Verifies the tokens of messages. A token is the same for everybody, so that most were verified before. */
export class TokenVerifier {
  readonly #keys: Promise<PublicKeySet>;
  readonly #clock: () => number;
  readonly #verified = new LruMap<TokenClaims>(rememberedTokens);

  /** `clock` gives Unix seconds. */
  constructor(keys: Promise<PublicKeySet>, clock: () => number) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /** What a token says, or why it is refused. */
  async verify(token: string): Promise<TokenClaims | Exclude<TokenVerdict, "valid">> {
    const now = this.#clock();
    const known = this.#verified.get(token);
    if (known !== null) return now <= known.issuedAt + viewsAcceptedSeconds ? known : "expired";
    const result = await verifyToken(token, await this.#keys, { now, acceptedSeconds: viewsAcceptedSeconds });
    if (result.verdict !== "valid") return result.verdict;
    this.#verified.set(token, result.claims);
    return result.claims;
  }
}
