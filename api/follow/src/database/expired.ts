/** A generation in the local file. `publishedAt` is when it was ranked, in Unix seconds. */
export type KeptGeneration = { id: number; publishedAt: number; regions: readonly string[] };

/**
 * The generations that need not be kept: the next one of each of its regions was published more than `retentionSeconds`
 * before the newest one of that region. The two newest of a region always stay. Times are compared with each other and
 * never with this machine's clock.
 */
export function findExpired(
  generations: readonly KeptGeneration[],
  { retentionSeconds }: { retentionSeconds: number },
): number[] {
  const byRegion = new Map<string, KeptGeneration[]>();
  const newestFirst = [...generations].sort((left, right) => right.id - left.id);
  for (const generation of newestFirst)
    for (const region of generation.regions)
      byRegion.set(region, [...(byRegion.get(region) ?? []), generation]);
  return newestFirst
    .filter((generation) =>
      generation.regions.every((region) => {
        const kept = byRegion.get(region) ?? [];
        const place = kept.indexOf(generation);
        const [newest, next] = [kept[0], kept[place - 1]];
        if (place < 2 || newest === undefined || next === undefined) return false;
        return next.publishedAt < newest.publishedAt - retentionSeconds;
      }),
    )
    .map(({ id }) => id);
}
