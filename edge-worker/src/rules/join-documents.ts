import type { PublicKeySet } from "@trendvault/contract/keys";
import type { About, RegionList } from "@trendvault/contract/responses";

/** What several writers say of all regions, joined as the origin joins it. Each has some of the regions; at least one says it. */
export function joinRegionLists(lists: readonly RegionList[]): RegionList {
  const newest = lastPublished(lists);
  return {
    generation: newest.generation,
    oldest_generation: Math.min(...lists.map(({ oldest_generation }) => oldest_generation)),
    generated_at: newest.generated_at,
    categories: [...new Set(lists.flatMap(({ categories }) => categories))].sort(),
    regions: newest.regions.map((region) =>
      lists
        .flatMap(({ regions }) => regions.find(({ code }) => code === region.code) ?? [])
        .reduce(newerRegion, region),
    ),
  };
}

/** How all lists are made: what holds for any of them. */
export function joinAbouts(abouts: readonly About[]): About {
  const newest = lastPublished(abouts);
  const all = abouts.toSorted((left, right) => left.generation - right.generation);
  const sources = all.flatMap((about) => about.sources ?? []).map((source) => JSON.stringify(source));
  return {
    ...newest,
    formula: [...new Set(all.flatMap(({ formula }) => formula.split(", ")))].join(", "),
    sources: sources.length === 0 ? null : [...new Set(sources)].map((source) => JSON.parse(source)),
    explore_share: largest(all.map(({ explore_share }) => explore_share)),
    removed_videos: largest(all.map(({ removed_videos }) => removed_videos)),
    looks_counted: all.some(({ looks_counted }) => looks_counted),
  };
}

/** All keys, each once. */
export function joinKeySets(sets: readonly PublicKeySet[]): PublicKeySet {
  const keys = sets.flatMap((set) => set.keys);
  return { keys: [...new Map(keys.map((key) => [JSON.stringify([key.kid, key.purpose]), key])).values()] };
}

type Region = RegionList["regions"][number];

function newerRegion(one: Region, other: Region): Region {
  return (other.generation ?? 0) > (one.generation ?? 0) ? other : one;
}

function lastPublished<T extends { generation: number; generated_at: string }>(documents: readonly T[]): T {
  const sorted = documents.toSorted(
    (left, right) =>
      Date.parse(right.generated_at) - Date.parse(left.generated_at) || right.generation - left.generation,
  );
  const [newest] = sorted;
  if (newest === undefined) throw new Error("Cannot join no documents");
  return newest;
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
