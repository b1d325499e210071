/** What is added to a shard's counts in one call: plain data, sums of many messages. */
export type Increments = { looks: BlockIncrement[]; served: ServedIncrement[] };

/** Looks and views of 50 ranks of a list; `category` is its name in tokens; the first block of a list is 0. */
export type BlockIncrement = {
  window: string;
  category: string;
  generation: number;
  block: number;
  ranks: CountedRank[];
};

/** Rank in the list, video id, looks, views. */
export type CountedRank = [rank: number, videoId: string, looks: number, views: number];

/** How often the pages of a list were served; `category` is its name in tokens. */
export type ServedIncrement = { window: string; category: string; pages: ServedPage[] };

/** The page has the ranks after `offset`, as many as `count`. */
export type ServedPage = [offset: number, count: number, lists: number];

/** Adds counted ranks to others of the same block. Each rank has one video in a generation. */
export function addRanks(sum: CountedRank[], added: readonly CountedRank[]): CountedRank[] {
  const byRank = new Map(sum.map((one) => [one[0], one]));
  for (const [rank, videoId, looks, views] of added) {
    const known = byRank.get(rank);
    byRank.set(rank, [rank, videoId, (known?.[2] ?? 0) + looks, (known?.[3] ?? 0) + views]);
  }
  return [...byRank.values()].sort((left, right) => left[0] - right[0]);
}

/** Adds served pages to others of the same list. */
export function addPages(sum: ServedPage[], added: readonly ServedPage[]): ServedPage[] {
  const byPage = new Map(sum.map((page) => [`${page[0]}+${page[1]}`, page]));
  for (const [offset, count, lists] of added) {
    const key = `${offset}+${count}`;
    byPage.set(key, [offset, count, (byPage.get(key)?.[2] ?? 0) + lists]);
  }
  return [...byPage.values()];
}
