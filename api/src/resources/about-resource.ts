import type { About } from "@trendvault/contract/explanation";
import { windowHours, windows } from "@trendvault/contract/list-bounds";
import { aboutApiPath } from "@trendvault/contract/paths";
import type { MakingRow } from "../database/explanation-rows.ts";
import type { Generation } from "../database/generation.ts";
import { jsonBody } from "./body.ts";
import { fixedContent, type Resource } from "./resource.ts";
import { formatTime } from "./time-text.ts";

type AboutSources = {
  lists: { readMaking(generation: Generation): MakingRow };
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

/** The same as an object, for the page that says it to people. @throws DatabaseUnreadable */
export function readAbout(generation: Generation, { lists, thumbHosts }: AboutSources): About {
  const making = lists.readMaking(generation);
  const sources: About["sources"] = JSON.parse(making.sources ?? "[]");
  return {
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    formula: making.formula,
    windows: windows.map((name) => ({ name, hours: windowHours[name] })),
    channel_limit: { videos: generation.maxPerChannel, within_ranks: generation.maxPerChannelRanks },
    sources: sources?.length === 0 ? null : sources,
    explore_share: making.explore_share,
    removed_videos: making.removed_videos,
    thumb_hosts: [...thumbHosts],
    looks_counted: making.looks_counted === 1,
  };
}
