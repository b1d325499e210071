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
import type { GenerationWatch } from "./generation-watch.ts";
import type { ListSlice } from "./list-rows.ts";
import type { VideoRecord } from "./video-rows.ts";

/**
 * Reads lists, and keeps the first page of every region and window, and the categories, in memory for as long as
 * their generation is served: they are requested most, and stay available when the database cannot be read.
 */
export class ListReader {
  readonly #watch: GenerationWatch;
  readonly #firstPages = new WeakMap<Generation, Map<string, ListSlice>>();
  readonly #categories = new WeakMap<Generation, ReadonlySet<string>>();

  constructor(watch: GenerationWatch) {
    this.#watch = watch;
  }

  /** The first ranks of a list, or null when its generation is gone. @throws DatabaseUnreadable */
  readFirst(query: TrendingQuery, generation: Generation): ListSlice | null {
    const start = { generation: generation.id, afterRank: 0 };
    if (query.category !== undefined) return this.readSlice(query, start);
    const slice = this.#firstPage(query.region, query.window, generation);
    return slice === null ? null : { ...slice, rows: slice.rows.slice(0, query.limit) };
  }

  /** The ranks behind a cursor, or null when its generation is gone. @throws DatabaseUnreadable */
  readSlice(query: TrendingQuery, start: PageStart): ListSlice | null {
    return this.#watch.read((store) => store.readSlice(query, start));
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

  #firstPage(region: string, window: Window, generation: Generation): ListSlice | null {
    const pages = this.#firstPages.get(generation) ?? new Map<string, ListSlice>();
    this.#firstPages.set(generation, pages);
    const known = pages.get(region + window);
    if (known !== undefined) return known;
    const start = { generation: generation.id, afterRank: 0 };
    const slice = this.readSlice({ region, window, limit: largestLimit }, start);
    if (slice !== null) pages.set(region + window, slice);
    return slice;
  }
}
