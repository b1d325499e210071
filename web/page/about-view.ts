import { type SourceKind, sourceKinds } from "@trendvault/contract/lists";
import { paths } from "@trendvault/contract/paths";
import type { About } from "@trendvault/contract/responses";
import type { Site } from "@trendvault/contract/site";
import en from "../client/src/view/locales/en.json" with { type: "json" };
import { formatsOf } from "../client/src/view/locales/locale.ts";
import { h, toHtml, type ViewElement } from "../client/src/view/nodes.ts";
import type { Assets } from "./manifest.ts";
import { headStart, siteParts } from "./page-view.ts";

type AboutPage = { making: About; assets: Assets; policy: string; site: Site | undefined };

const formats = formatsOf("en");

/** The HTML of "How this list is made": the main parameters (Digital Services Act, Art. 27), as they are in force. */
export function writeAbout(about: AboutPage): string {
  const { making, assets, policy, site } = about;
  return `<!doctype html>${toHtml(
    h(
      "html",
      { lang: "en" },
      h(
        "head",
        {},
        headStart({ generatedAt: making.generated_at, policy }),
        h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
        h("title", {}, "How this list is made"),
        h("link", { rel: "stylesheet", href: assets.pageCss }),
        siteParts.style(site),
        h("link", { rel: "icon", href: assets.icon, type: "image/svg+xml" }),
      ),
      h(
        "body",
        {},
        h("main", { class: "prose" }, siteParts.brand(site), ...contentOf(making)),
        h("footer", { class: "foot" }, h("p", { class: "links" }, siteParts.links(site ?? {}, en))),
      ),
    ),
  )}`;
}

function contentOf(making: About): ViewElement[] {
  const { channel_limit: limit } = making;
  return [
    h("p", {}, h("a", { href: paths.page }, "Back to the list")),
    h("h1", {}, "How this list is made"),
    p(
      (making.impressions_counted
        ? "Where visitors' impressions and clicks are counted, a list is ordered by how many of those who see a video are" +
          " expected to open it; elsewhere by the views that it is expected to get in the time ahead."
        : "A list is ordered by a forecast: the views that each video is expected to get in the time ahead.") +
        " Nothing is known or stored about you: everybody in a country gets the same list.",
    ),
    h("h2", {}, "What counts, in the order of its weight"),
    h(
      "ol",
      {},
      making.impressions_counted
        ? h(
            "li",
            {},
            "What visitors of the lists do: how many of those who see a video in a list open it. Only sums are" +
              " known, not who did it.",
          )
        : null,
      h("li", {}, "How many views a video gained lately, per hour. Recent hours count most."),
      h("li", {}, "Its age: the older a video is, the fewer are expected to watch it."),
      limit.within_ranks === 0
        ? null
        : h(
            "li",
            {},
            `Its channel: at most ${limit.videos} videos of one channel are within the first ` +
              `${limit.within_ranks} ranks, while other channels have one left; the others come after them.`,
          ),
    ),
    ...exploring(making),
    h("h2", {}, "What is in force"),
    facts(making),
    h("h2", {}, "What you can change"),
    p(
      "The country, the time ahead and the category, above each list. There is no list made for you, so there is no" +
        " profile to switch off. “Why here?” beside each video says what its rank rests on.",
    ),
  ];
}

function exploring({ explore_share: share, impressions_counted }: About): ViewElement[] {
  if (!impressions_counted || share === null || share === 0) return [];
  const percent = new Intl.NumberFormat("en-GB", { style: "percent" }).format(share);
  return [
    p(
      `Up to ${percent} of all impressions may go to videos above the ranks that they have earned, so that something is learned` +
        " about them. “Why here?” says when that is so.",
    ),
  ];
}

function facts(making: About): ViewElement {
  const { windows, sources, removed_videos: removed } = making;
  const ahead = windows.map(({ name, hours }) => `${name}: ${formats.duration(hours)}`).join(", ");
  return h(
    "table",
    {},
    h(
      "tbody",
      {},
      making.formula === null ? null : fact("Formula and its version", making.formula),
      fact("Time ahead that a forecast covers", ahead),
      sources === null ? null : fact("Where view counts come from", describeSources(sources)),
      fact(
        "Impressions and clicks in these lists",
        making.impressions_counted ? "take part" : "take no part",
      ),
      removed === null ? null : fact("Videos taken down, in no list", formats.whole(removed)),
      fact("This list was made", formats.time(making.generated_at)),
    ),
  );
}

function describeSources(sources: readonly { kind: SourceKind; host: string | null }[]): string {
  const names = sources.map(({ kind, host }) => `${sourceKinds[kind]}${host === null ? "" : ` (${host})`}`);
  return names.length === 0 ? "none" : names.join(", ");
}

function fact(name: string, value: string): ViewElement {
  return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value));
}

function p(text: string): ViewElement {
  return h("p", {}, text);
}
