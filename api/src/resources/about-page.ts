import { pageFields } from "@trendvault/contract/page-head";
import { contentPolicy } from "@trendvault/contract/page-policy";
import { aboutPath } from "@trendvault/contract/paths";
import type { Making } from "@trendvault/page/about-view";
import type { Generation } from "../database/generation.ts";
import { textBody } from "./body.ts";
import type { HtmlSources } from "./page-resource.ts";
import { fixedContent, type Resource } from "./resource.ts";
import { formatTime } from "./time-text.ts";

/** How the lists are made, for people: the main parameters, in sentences. */
export function aboutPage({ assets }: Pick<HtmlSources, "assets">): Resource {
  return {
    url: aboutPath,
    route: "page",
    read: (generation) => {
      const policy = contentPolicy([]);
      const making = describe(generation);
      const html = loadView().writeAbout({ making, assets: assets.paths, policy });
      return fixedContent({ ...textBody(html, "text/html; charset=utf-8"), fields: pageFields({ policy }) });
    },
  };
}

function describe({ publishedAt, maxPerChannel, maxPerChannelRanks }: Generation): Making {
  return {
    generated_at: formatTime(publishedAt),
    formula: null,
    windows: [
      { name: "now", hours: 6 },
      { name: "day", hours: 24 },
      { name: "week", hours: 168 },
    ],
    channel_limit: { videos: maxPerChannel, within_ranks: maxPerChannelRanks },
    sources: null,
    explore_share: null,
    removed_videos: null,
    looks_counted: null,
  };
}

// With the first request, not at the start.
function loadView(): typeof import("@trendvault/page/about-view") {
  return require("@trendvault/page/about-view");
}
