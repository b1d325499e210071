import { regionCodes } from "@trendvault/contract/regions";
import {
  largestLimit,
  type PageStart,
  type TrendingQuery,
  type Window,
  windows,
} from "@trendvault/contract/trending-query";
import { DatabaseUnreadable } from "./fault.ts";
import type { Generation } from "./generation.ts";
import type { GenerationWatch } from "./generation-watch.ts";
import type { ListSlice } from "./list-rows.ts";
import type { VideoRecord } from "./video-rows.ts";

/**
 * Reads lists, and keeps the first page of every market and window in memory for as long as its generation is
 * served: they are what is asked for, and they go on being answered when the database cannot be read.
 */
export class ListReader {
  readonly #watch: GenerationWatch;
  readonly #firstPages = new WeakMap<Generation, Map<string, ListSlice>>();

  constructor(watch: GenerationWatch) {
    this.#watch = watch;
  }

  /** The first ranks of a list, or null when its generation is gone. Throws DatabaseUnreadable. */
  readFirst(query: TrendingQuery, generation: Generation): ListSlice | null {
    const start = { generation: generation.id, afterRank: 0 };
    if (query.category !== undefined) return this.readSlice(query, start);
    const slice = this.#firstPage(query.region, query.window, generation);
    return slice === null ? null : { ...slice, rows: slice.rows.slice(0, query.limit) };
  }

  /** The ranks behind a cursor, or null when its generation is gone. Throws DatabaseUnreadable. */
  readSlice(query: TrendingQuery, start: PageStart): ListSlice | null {
    return this.#watch.read((store) => store.readSlice(query, start));
  }

  readVideo(id: string, generation: number): VideoRecord | null {
    return this.#watch.read((store) => store.readVideo(id, generation));
  }

  /** Whether every first page of a generation is in memory. */
  isLoaded(generation: Generation | null): boolean {
    const pages = generation === null ? undefined : this.#firstPages.get(generation);
    return pages?.size === regionCodes.length * windows.length;
  }

  /** Brings the first pages of a generation into memory, one with every step, as long as they can be read. */
  *loadFirstPages(generation: Generation): Generator<void, void> {
    for (const region of regionCodes) {
      for (const window of windows) {
        try {
          this.#firstPage(region, window, generation);
        } catch (error) {
          if (error instanceof DatabaseUnreadable) return;
          throw error;
        }
        yield;
      }
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
