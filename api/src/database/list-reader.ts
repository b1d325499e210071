import { regionCodes } from "@trendvault/contract/regions";
import {
  largestLimit,
  type PageStart,
  type TrendingQuery,
  type Window,
  windows,
} from "@trendvault/contract/trending-query";
import { DatabaseUnreadable } from "./errors.ts";
import type { ExplanationKey, ExplanationRecord, MakingRow } from "./explanation-rows.ts";
import type { Generation, ListLength } from "./generation.ts";
import type { GenerationWatcher } from "./generation-watcher.ts";
import type { ListPage } from "./list-page.ts";
import type { VideoRecord } from "./video-rows.ts";

/**
 * Reads lists, and keeps the first page of every region and window, and the categories, in memory for as long as
 * their generation is served: they are requested most, and stay available when the database cannot be read.
 */
export class ListReader {
  readonly #watcher: GenerationWatcher;
  readonly #firstPages = new WeakMap<Generation, Map<string, ListPage>>();
  readonly #makings = new WeakMap<Generation, MakingRow>();
  readonly #categories = new WeakMap<Generation, ReadonlySet<string>>();

  constructor(watcher: GenerationWatcher) {
    this.#watcher = watcher;
  }

  /** The first ranks of a list of the generation that is served. @throws DatabaseUnreadable */
  readFirstPage(query: TrendingQuery, generation: Generation): ListPage {
    const isKept = query.category === undefined && query.fields !== "chart";
    if (!isKept) return this.#readFirstRanks(query, generation);
    const page = this.#firstPage(query.region, query.window, generation);
    return { ...page, rows: page.rows.filter(({ rank }) => rank <= query.limit) };
  }

  /** The ranks after a cursor's, or null when its generation is gone. @throws DatabaseUnreadable */
  readListPage(query: TrendingQuery, start: PageStart): ListPage | null {
    return this.#watcher.read((store) => store.readListPage(query, start));
  }

  /** A video, or null when it is unknown. @throws DatabaseUnreadable */
  readVideo(id: string, generation: number): VideoRecord | null {
    return this.#watcher.read((store) => store.readVideo(id, generation));
  }

  /** Why a video is where it is, or null when nothing is known of it in that region. @throws DatabaseUnreadable */
  readExplanation(key: ExplanationKey, generation: number): ExplanationRecord | null {
    return this.#watcher.read((store) => store.readExplanation(key, generation));
  }

  /** How a generation was made. @throws DatabaseUnreadable */
  readMaking(generation: Generation): MakingRow {
    const known = this.#makings.get(generation);
    if (known !== undefined) return known;
    const { id } = generation;
    const making = this.#watcher.read((store) => store.readMaking(id));
    if (making === null) throw new DatabaseUnreadable(`Generation ${id} was deleted while it is served`);
    this.#makings.set(generation, making);
    return making;
  }

  /** The newest generation before another one, or null. @throws DatabaseUnreadable */
  readGenerationBefore({ id }: Generation): Generation | null {
    return this.#watcher.read((store) => store.newestGeneration(id));
  }

  /** The categories that have a list in a generation. @throws DatabaseUnreadable */
  categoriesOf(generation: Generation): ReadonlySet<string> {
    const known = this.#categories.get(generation);
    if (known !== undefined) return known;
    const categories = this.#watcher.read((store) => store.readCategories(generation.id));
    this.#categories.set(generation, categories);
    return categories;
  }

  /** Whether everything that is kept of a generation is in memory. */
  isLoaded(generation: Generation): boolean {
    const isWhole = this.#firstPages.get(generation)?.size === regionCodes.length * windows.length;
    return isWhole && this.#categories.has(generation);
  }

  /**
   * Reads what is kept of a generation into memory, and every rank of its lists once: what was loaded is whole. A step
   * reads one page or counts the ranks of a region and window. @throws DatabaseUnreadable
   */
  *load(generation: Generation): Generator<void, void> {
    const categories = new Set<string>();
    for (const region of regionCodes) {
      const lists: ListLength[] = [];
      for (const window of windows) {
        this.#firstPage(region, window, generation);
        yield;
        lists.push(...this.#watcher.read((store) => store.countRanks(generation.id, region, window)));
        yield;
      }
      const promised = generation.regions.get(region)?.videoCount ?? 0;
      if (lists.length === 0 && promised > 0) {
        throw new DatabaseUnreadable(`Generation ${generation.id} has no list of ${region}`);
      }
      for (const { category } of lists) if (category !== "") categories.add(category);
    }
    this.#categories.set(generation, categories);
    this.readMaking(generation); // pages of people depend on it
  }

  // In one transaction: titles change between two, and all slices of this page have to be of one moment.
  #firstPage(region: TrendingQuery["region"], window: Window, generation: Generation): ListPage {
    const pages = this.#firstPages.get(generation) ?? new Map<string, ListPage>();
    this.#firstPages.set(generation, pages);
    const known = pages.get(region + window);
    if (known !== undefined) return known;
    const page = this.#readFirstRanks({ region, window, limit: largestLimit }, generation);
    pages.set(region + window, page);
    return page;
  }

  #readFirstRanks(query: TrendingQuery, { id }: Generation): ListPage {
    const page = this.readListPage(query, { generation: id, afterRank: 0 });
    if (page === null) throw new DatabaseUnreadable(`Generation ${id} was deleted while it is served`);
    return page;
  }
}
