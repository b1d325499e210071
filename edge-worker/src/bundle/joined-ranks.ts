import type { TrendingQuery } from "@trendvault/contract/queries";
import type { ListPage } from "./bundled-lists.ts";
import type { RankReader } from "./bundled-ranks.ts";
import type { JoinedStores } from "./joined-stores.ts";

/** Which video has which rank, in the lists of writers that share the regions. */
export class JoinedRanks implements RankReader {
  readonly #stores: JoinedStores;

  constructor(stores: JoinedStores) {
    this.#stores = stores;
  }

  async read(
    query: TrendingQuery,
    place: { generation: number; block: number },
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<ListPage | null> {
    const found = await this.#stores.find(query.region, waitUntil).catch(() => null); // its source logs that
    return found === null ? null : found.store.ranks.read(query, place, waitUntil);
  }
}
