import { choiceOf, type ListChoice, largestLimit } from "@trendvault/contract/lists";
import { regionsPath } from "@trendvault/contract/paths";
import { type TrendingQuery, trendingUrl, writeCursor } from "@trendvault/contract/queries";
import type { TokenList } from "@trendvault/contract/token";
import type { ListPage } from "../bundle/bundled-lists.ts";
import type { RankReader } from "../bundle/bundled-ranks.ts";
import type { EdgeServices } from "../cache/edge-services.ts";
import { LruMap } from "../cache/lru-map.ts";
import { readThrough } from "../cache/read-through.ts";
import type { RequestContext } from "../cache/revalidator.ts";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { listInTokens } from "../rules/list-in-tokens.ts";
import { parseJson } from "../rules/parse-json.ts";
import { readPublished } from "../rules/published.ts";

/** The videos of 50 ranks, by rank; removed ones are not there. */
export type ListBlock = ReadonlyMap<number, string>;

export const blockRanks = largestLimit;
const remembered = 1024; // blocks of some 5 KB each

/**
 * Which video has which rank in a generation's list. Lists are read from bundles where there are any, else as any
 * visitor reads them, by the page of 50 ranks: one for all the lengths of pages that sites show.
 */
export class ListBlocks {
  readonly #services: EdgeServices;
  readonly #bundled: RankReader | null;
  readonly #blocks = new LruMap<ListBlock>(remembered);

  /** `bundled`: null where no bundles are read. */
  constructor(services: EdgeServices, bundled: RankReader | null = null) {
    this.#services = services;
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
    const page = (await this.#bundled?.read(query, place, waitUntil)) ?? null;
    return page && ranksOf(page);
  }

  async #readPage(query: TrendingQuery, context: RequestContext): Promise<ListBlock | "gone" | null> {
    const request = canonicalOf(trendingUrl(query), query);
    const stored = await this.#services.cache.match(request.target);
    if (stored?.status === 200) return readRanks(stored); // of any age: a generation's ranks do not change
    const result = await readThrough(request, context, this.#services);
    if (result.kind === "refused") return "gone";
    return result.kind === "response" && result.response.status === 200 ? readRanks(result.response) : null;
  }

  /** What a list's name in a token selects; for a hash, the published category that has it. */
  async #choiceOf(name: string, context: RequestContext): Promise<ListChoice | null> {
    const choice = choiceOf(name);
    if (!choice.category?.startsWith("#")) return choice;
    const result = await readThrough(canonicalOf(regionsPath, null), context, this.#services);
    if (result.kind !== "response") return null;
    for (const category of readPublished(result.response.body).categories) {
      if ((await listInTokens({ category })) === name) return { category };
    }
    return null;
  }
}

function readRanks({ body }: StoredResponse): ListBlock {
  return ranksOf(parseJson(body) as Partial<ListPage> | null);
}

function ranksOf(page: Partial<ListPage> | null): ListBlock {
  return new Map(page?.items?.map(({ rank, id }) => [rank, id]));
}

function canonicalOf(target: string, query: TrendingQuery | null): CanonicalRequest {
  return { target, query, regionFromCountry: false };
}
