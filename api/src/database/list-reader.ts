import { regionCodes } from "@trendvault/contract/regions";
import {
  largestLimit,
  type PageStart,
  type TrendingQuery,
  type Window,
  windows,
} from "@trendvault/contract/trending-query";
import { DatabaseUnreadable } from "./errors.ts";
import type { Generation } from "./generation.ts";
import type { GenerationWatcher } from "./generation-watcher.ts";
import type { ListPage } from "./list-page.ts";
import type { VideoRecord } from "./video-rows.ts";

/**
 * Reads lists, and keeps the first page of every region and window, and the categories, in memory for as long as
 * their generation is served: they are requested most, and stay available when the database cannot be read.
 */
export class ListReader {
  readonly #watch: GenerationWatcher;
  readonly #firstPages = new WeakMap<Generation, Map<string, ListPage>>();
  readonly #categories = new WeakMap<Generation, ReadonlySet<string>>();

  constructor(watch: GenerationWatcher) {
    this.#watch = watch;
  }

  /** The first ranks of a list, or null when its generation is gone. @throws DatabaseUnreadable */
  readFirstPage(query: TrendingQuery, generation: Generation): ListPage | null {
    const start = { generation: generation.id, afterRank: 0 };
    if (query.category !== undefined) return this.readListPage(query, start);
    const page = this.#firstPage(query.region, query.window, generation);
    return page === null ? null : { ...page, rows: page.rows.slice(0, query.limit) };
  }

  /** The ranks after a cursor's, or null when its generation is gone. @throws DatabaseUnreadable */
  readListPage(query: TrendingQuery, start: PageStart): ListPage | null {
    return this.#watch.read((store) => store.readListPage(query, start));
  }

  /** A video, or null when it is unknown. @throws DatabaseUnreadable */
  readVideo(id: string, generation: number): VideoRecord | null {
    return this.#watch.read((store) => store.readVideo(id, generation));
  }

  /** The categories that have a list in a generation. @throws DatabaseUnreadable */
  categoriesOf(generation: Generation): ReadonlySet<string> {
    const known = this.#categories.get(generation);
    if (known !== undefined) return known;
    const categories = this.#watch.read((store) => store.readCategories(generation.id));
    this.#categories.set(generation, categories);
    return categories;
  }

  /** Whether everything that is kept of a generation is in memory. */
  isLoaded(generation: Generation): boolean {
    const isWhole = this.#firstPages.get(generation)?.size === regionCodes.length * windows.length;
    return isWhole && this.#categories.has(generation);
  }

  /** Reads what is kept of a generation into memory, a page with every step, for as long as it can be read. */
  *load(generation: Generation): Generator<void, void> {
    try {
      for (const region of regionCodes) {
        for (const window of windows) {
          this.#firstPage(region, window, generation);
          yield;
        }
      }
      this.categoriesOf(generation);
    } catch (error) {
      if (!(error instanceof DatabaseUnreadable)) throw error;
    }
  }

  #firstPage(region: string, window: Window, generation: Generation): ListPage | null {
    const pages = this.#firstPages.get(generation) ?? new Map<string, ListPage>();
    this.#firstPages.set(generation, pages);
    const known = pages.get(region + window);
    if (known !== undefined) return known;
    const start = { generation: generation.id, afterRank: 0 };
    const page = this.readListPage({ region, window, limit: largestLimit }, start);
    if (page !== null) pages.set(region + window, page);
    return page;
  }
}
