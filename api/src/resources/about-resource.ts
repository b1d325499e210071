import { windowHours, windows } from "@trendvault/contract/lists";
import { aboutApiPath } from "@trendvault/contract/paths";
import type { About } from "@trendvault/contract/responses";
import type { MakingRow } from "../database/explanation-rows.ts";
import type { Generation } from "../database/generation.ts";
import { jsonBody } from "./body.ts";
import { fixedContent, type Resource } from "./resource.ts";
import { formatTime } from "./time-text.ts";

type AboutSources = {
  lists: { readMaking(generation: Generation, ranking: number): MakingRow };
  thumbHosts: readonly string[];
};

/** How the lists are made. */
export function aboutResource(sources: AboutSources): Resource {
  return {
    url: aboutApiPath,
    route: "about",
    read: (generation) => fixedContent(jsonBody(JSON.stringify(readAbout(generation, sources)))),
  };
}

/**
 * The same as an object, for the page that says it to people. Where several writers share the regions, it says what holds
 * for any of them. @throws DatabaseUnreadable
 */
export function readAbout(generation: Generation, { lists, thumbHosts }: AboutSources): About {
  const making = joinMakings(generation.rankings.map(({ id }) => lists.readMaking(generation, id)));
  const sources = sourcesOf(making);
  return {
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    formula: making.formula,
    windows: windows.map((name) => ({ name, hours: windowHours[name] })),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    sources: sources.length === 0 ? null : sources,
    explore_share: making.explore_share,
    removed_videos: making.removed_videos,
    thumb_hosts: [...thumbHosts],
    looks_counted: making.looks_counted === 1,
  };
}

/** Where the view counts of a ranking come from; none where an older writer did not store it. */
export function sourcesOf({ sources }: MakingRow): NonNullable<About["sources"]> {
  return JSON.parse(sources ?? "[]") ?? [];
}

function joinMakings(makings: readonly MakingRow[]): MakingRow {
  const [first, ...others] = makings;
  if (first === undefined) throw new Error("Cannot say how no ranking was made");
  return others.reduce(joinMaking, first);
}

// A formula that is in use anywhere is named, as looks are that count anywhere.
function joinMaking(one: MakingRow, other: MakingRow): MakingRow {
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
