import { expect, test } from "bun:test";
import { examples } from "@trendvault/contract/examples";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { paths } from "@trendvault/contract/paths";
import { regionCodes } from "@trendvault/contract/regions";
import type { About, RegionList } from "@trendvault/contract/responses";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";
import { joinDocuments } from "./bundles.ts";

const times = ["2026-11-22T03:40:00Z", "2026-11-22T03:41:00Z", "2026-11-22T03:42:00Z"];

/** What a writer says that has some regions, by code with their generation. */
function listOf(own: ReadonlyMap<string, number>, generated_at: string): RegionList {
  const ids = [...own.values()];
  return {
    ...examples.regionList,
    generation: Math.max(...ids),
    oldest_generation: Math.min(...ids),
    generated_at,
    categories: [...own.keys()],
    regions: regionCodes.map((code) => {
      const generation = own.get(code) ?? null;
      const [name, languages, newest_observed_at] = [code, [], null];
      const language_lists = generation === null ? [] : [`l${generation}`];
      const published = generation === null ? null : generated_at;
      return {
        ...{
          code,
          name,
          languages,
          language_lists,
          newest_observed_at,
          generation,
          oldest_generation: generation,
        },
        ...{ audience_lists: [], live_lists: [], duration_lists: [] },
        ...{ video_count: generation ?? 0, generated_at: published },
      };
    }),
  };
}

test(`of each region there is what the largest number says, and at the top what was published last (seed ${testSeed})`, () => {
  const random = new Random();
  for (let draw = 0; draw < drawsOf({ usual: 200, long: 10_000 }); draw++) {
    const lists = Array.from({ length: 1 + random.below(3) }, (_, writer) => {
      const codes = [random.pick(regionCodes), random.pick(regionCodes)];
      const generation = 256 * (1 + random.below(50)) + writer;
      return listOf(new Map(codes.map((code) => [code, generation])), random.pick(times));
    });
    const joined = joinDocuments(paths.regions, lists);
    const numbers = (list: RegionList) => list.regions.map(({ generation }) => generation);
    const largest = regionCodes.map(
      (_, at) => Math.max(...lists.map((list) => numbers(list)[at] ?? 0)) || null,
    );
    expect(numbers(joined)).toEqual(largest);
    expect(joined.regions.map(({ language_lists }) => language_lists)).toEqual(
      largest.map((number) => (number === null ? [] : [`l${number}`])),
    );
    const newest =
      lists
        .map(({ generated_at }) => generated_at)
        .sort()
        .at(-1) ?? "";
    expect(joined.generated_at).toBe(newest);
    const last = lists
      .filter(({ generated_at }) => generated_at === newest)
      .map(({ generation }) => generation);
    expect(joined.generation).toBe(Math.max(...last));
    expect(joined.categories).toEqual([...new Set(lists.flatMap(({ categories }) => categories))].sort());
    expect(joinDocuments(paths.regions, lists.toReversed())).toEqual(joined);
  }
});

test("how lists are made is said for any of the writers", () => {
  const one: About = {
    ...examples.about,
    generation: 300,
    generated_at: "2026-11-22T03:40:00Z",
    impressions_counted: true,
  };
  const other: About = {
    ...examples.about,
    generation: 257,
    generated_at: "2026-11-22T03:41:00Z",
    formula: "inverse-square-1+clicks-7",
    sources: null,
    explore_share: null,
    removed_videos: 9,
  };
  expect(joinDocuments<About>(paths.about, [one, other])).toEqual({
    ...other,
    formula: `inverse-square-1+clicks-7, ${one.formula}`,
    sources: one.sources,
    explore_share: one.explore_share,
    impressions_counted: true,
  });
});

test("of keys that several have there is one", () => {
  const set: PublicKeySet = JSON.parse(JSON.stringify(examples.publicKeys));
  const [first] = set.keys;
  if (first === undefined) throw new Error("There is no key in the example");
  const further = { ...first, kid: "another" };
  expect(joinDocuments<PublicKeySet>(paths.publicKeys, [set, { keys: [first, further] }])).toEqual({
    keys: [...set.keys, further],
  });
});
