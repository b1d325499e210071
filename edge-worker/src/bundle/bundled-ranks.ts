import type { TrendingQuery } from "@trendvault/contract/queries";
import { nullOnError } from "../cache/null-on-error.ts";
import type { Logger } from "../log/logger.ts";
import type { BundlePointers } from "./bundle-pointers.ts";
import type { BundledLists, ListPage } from "./bundled-lists.ts";

type Options = { pointers: BundlePointers; lists: BundledLists; log: Logger };

/** Which video has which rank in the lists of bundles. */
export interface RankReader {
  /** The page of 50 ranks after `block` times as many of a generation's list, or null when none can be read. */
  read(
    query: TrendingQuery,
    place: { generation: number; block: number },
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<ListPage | null>;
}

/** The ranks in the bundles of one store. */
export class BundledRanks implements RankReader {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async read(
    query: TrendingQuery,
    { generation, block }: { generation: number; block: number },
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<ListPage | null> {
    const entry = { event: "bundle_failed", message: "The ranks of a list could not be read from a bundle." };
    const page = this.#read(query, { generation, block }, waitUntil);
    return nullOnError(page, this.#options.log, entry);
  }

  async #read(
    query: TrendingQuery,
    { generation, block }: { generation: number; block: number },
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<ListPage | null> {
    const { pointers, lists } = this.#options;
    const { pointer: newest } = await pointers.current(waitUntil);
    const isNewest = newest.generation === generation;
    const pointer = isNewest ? newest : await pointers.ofGeneration(generation, waitUntil);
    if (pointer === null) return null;
    return (await lists.readBlock(query, block, { pointer, waitUntil }))?.page ?? null;
  }
}
