import { restartOf } from "./problem-error.ts";
import { type Fields, type PageOf, type TrendingOptions, trending, trendingAt } from "./trending.ts";

export type AllOptions<F extends Fields = Fields> = TrendingOptions<F> & {
  /** How often it starts again because the list was deleted while it was read. Default: 3. */
  restarts?: number;
};

const longestList = 500; // ranks, so that no list has more pages

/**
 * All pages of a list. They are of one generation, unless that is deleted meanwhile (a page is read for longer than
 * about 25 minutes): then the newest generation's first page follows, and `generation` tells.
 *
 * @throws ProblemError for a problem; TypeError when the network failed
 */
export async function* allPages<F extends Fields = undefined>({
  restarts = 3,
  ...options
}: AllOptions<F> = {}): AsyncGenerator<PageOf<F>, void> {
  let page = await trending(options as TrendingOptions<F>);
  const followed = new Set<string>();
  for (let left = restarts; ; ) {
    yield page;
    if (page.next === null) return;
    if (followed.has(page.next) || followed.size >= longestList) {
      throw new Error("Cannot follow `next`: it leads in a circle");
    }
    followed.add(page.next);
    try {
      page = await trendingAt<F>(page.next, options);
    } catch (error) {
      if (restartOf(error) === null || left-- === 0) throw error;
      // Not at the address that the problem names: problems are not signed, and it could be that of another list.
      const { cursor: _, ...first } = options as TrendingOptions<F>;
      page = await trending(first as TrendingOptions<F>);
      followed.clear();
    }
  }
}

/**
 * All items of a list, the first rank first. Where it starts again (see allPages), what was given is not given again.
 *
 * @throws ProblemError for a problem; TypeError when the network failed
 */
export async function* allItems<F extends Fields = undefined>(
  options: AllOptions<F> = {},
): AsyncGenerator<PageOf<F>["items"][number], void> {
  const given = new Set<string>();
  for await (const { items } of allPages(options)) {
    for (const item of items) {
      if (given.has(item.id)) continue;
      given.add(item.id);
      yield item;
    }
  }
}
