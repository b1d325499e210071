import { windowHours, windows } from "@trendvault/contract/lists";
import { paths } from "@trendvault/contract/paths";
import { ownRegions, regions } from "@trendvault/contract/regions";
import type { About, RegionList } from "@trendvault/contract/responses";
import { type Messages, wordsOfPage } from "../../../web/client/src/view/locales/locale.ts";
import type { ListedChoices } from "../database/list-reader.ts";
import type { Generation, RankingMetadata } from "../database/store.ts";
import { fixedContent, formatTime, formatTimeOrNull, jsonBody, type Resource } from "./resource.ts";

type AboutSources = {
  lists: { readMetadata(generation: Generation, ranking: number): RankingMetadata };
  thumbHosts: readonly string[];
};

/** How the lists are made. */
export function aboutResource(sources: AboutSources): Resource {
  return {
    url: paths.about,
    route: "about",
    read: (generation) => fixedContent(jsonBody(JSON.stringify(readAbout(generation, sources)))),
  };
}

/**
 * The same as an object, for the page that says it to people. Where several writers share the regions, it says what holds
 * for any of them. @throws DatabaseUnreadable
 */
export function readAbout(generation: Generation, { lists, thumbHosts }: AboutSources): About {
  const metadata = joinAllMetadata(generation.rankings.map(({ id }) => lists.readMetadata(generation, id)));
  const sources = sourcesOf(metadata);
  return {
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    formula: metadata.formula,
    windows: windows.map((name) => ({ name, hours: windowHours[name] })),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    sources: sources.length === 0 ? null : sources,
    explore_share: metadata.explore_share,
    removed_videos: metadata.removed_videos,
    thumb_hosts: [...thumbHosts],
    impressions_counted: metadata.looks_counted === 1,
    ...ownWords(),
  };
}

/** The words of the site's own languages, for elements. */
function ownWords(): Pick<About, "languages"> {
  const own = Object.entries(ownRegions?.languages ?? {});
  if (own.length === 0) return {};
  return { languages: Object.fromEntries(own.map(([tag, words]) => [tag, wordsOfPage(words as Messages)])) };
}

/** Where the view counts of a ranking come from; none where an older writer did not store it. */
export function sourcesOf({ sources }: RankingMetadata): NonNullable<About["sources"]> {
  return JSON.parse(sources ?? "[]") ?? [];
}

function joinAllMetadata(all: readonly RankingMetadata[]): RankingMetadata {
  const [first, ...others] = all;
  if (first === undefined) throw new Error("Cannot say how no ranking was made");
  return others.reduce(joinMetadata, first);
}

// A formula that is in use anywhere is named, as impressions are that count anywhere.
function joinMetadata(one: RankingMetadata, other: RankingMetadata): RankingMetadata {
  const all = [...sourcesOf(one), ...sourcesOf(other)].map((source) => JSON.stringify(source));
  return {
    formula: [...new Set(`${one.formula}, ${other.formula}`.split(", "))].join(", "),
    sources: `[${[...new Set(all)]}]`,
    explore_share: largest(one.explore_share, other.explore_share),
    removed_videos: largest(one.removed_videos, other.removed_videos),
    looks_counted: one.looks_counted === 1 ? 1 : other.looks_counted,
  };
}

function largest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

type ChoiceReader = { choicesOf(generation: Generation): ListedChoices };

/** The regions, how many videos each has and how fresh they are. */
export function regionsResource(reader: ChoiceReader): Resource {
  return {
    url: paths.regions,
    route: "regions",
    read(generation) {
      const list = describe(generation, reader.choicesOf(generation));
      return fixedContent(jsonBody(JSON.stringify(list)));
    },
  };
}

function describe(generation: Generation, choices: ListedChoices): RegionList {
  return {
    generation: generation.id,
    oldest_generation: generation.oldestId,
    generated_at: formatTime(generation.publishedAt),
    categories: [...choices.categories].sort(),
    regions: regions.map(({ code, name, languages }) => {
      const known = generation.regions.get(code);
      return {
        code,
        name,
        languages,
        language_lists: choices.listedIn(code, "language"),
        audience_lists: choices.listedIn(code, "audience"),
        live_lists: choices.listedIn(code, "live"),
        duration_lists: choices.listedIn(code, "duration"),
        video_count: known?.videoCount ?? 0,
        newest_observed_at: formatTimeOrNull(known?.newestObservedAt ?? null),
        generation: known?.id ?? null,
        oldest_generation: known?.oldestId ?? null,
        generated_at: formatTimeOrNull(known?.publishedAt ?? null),
      };
    }),
  };
}
