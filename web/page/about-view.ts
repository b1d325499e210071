import type { SourceKind } from "@trendvault/contract/lists";
import { allPageLanguages } from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import type { Site } from "@trendvault/contract/regions";
import type { About } from "@trendvault/contract/responses";
import {
  type Formats,
  fill,
  formatsOf,
  type Messages,
  nameLanguage,
} from "../client/src/view/locales/locale.ts";
import { h, toHtml, type ViewElement } from "../client/src/view/nodes.ts";
import type { Assets } from "./manifest.ts";
import { headParts, siteParts } from "./page-view.ts";

type AboutPage = {
  making: About;
  assets: Assets;
  policy: string;
  site: Site | undefined;
  messagesOf: (language: string) => Messages;
};

/** In what language it is said, of what. */
type Said = { making: About; site: Site | undefined; messages: Messages; formats: Formats };

/**
 * The HTML of "How this list is made": the main parameters (Digital Services Act, Art. 27), as they are in force. In all
 * languages: the address of one is a fragment, so that for caches and bundles it is one document.
 */
export function writeAbout({ making, assets, policy, site, messagesOf }: AboutPage): string {
  const names = allPageLanguages().map((language) =>
    h("a", { href: `#${language}`, lang: language, hreflang: language }, nameLanguage(language)),
  );
  const texts = allPageLanguages().map((language) => {
    const said = { making, site, messages: messagesOf(language), formats: formatsOf(language) };
    return h("article", { id: language, lang: language, dir: said.messages.dir }, contentOf(said));
  });
  // English last: the style shows it unless another one before it is the target.
  const [english, ...others] = texts;
  return `<!doctype html>${toHtml(
    h(
      "html",
      { lang: "en" },
      h(
        "head",
        {},
        headParts.start({ generatedAt: making.generated_at, policy }),
        h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
        h("title", {}, messagesOf("en").howMade),
        h("link", { rel: "stylesheet", href: assets.pageCss }),
        headParts.style(site),
        headParts.icon(site, assets),
      ),
      h(
        "body",
        {},
        h("main", { class: "prose" }, siteParts.brand(site), others, english ?? null),
        h(
          "footer",
          { class: "foot" },
          h("nav", { class: "languages", "aria-label": messagesOf("en").language }, names),
        ),
      ),
    ),
  )}`;
}

type FailurePage = {
  sentence: 404 | 400 | 503;
  language: string;
  messages: Messages;
  assets: Assets;
  site: Site | undefined;
};

/** The HTML of what a person sees who goes wrong. */
export function writeFailure({ sentence, language, messages, assets, site }: FailurePage): string {
  const links = siteParts.links(site ?? {}, messages);
  const title = { 400: messages.badAddress, 404: messages.nothingHere, 503: messages.notNow }[sentence];
  return `<!doctype html>${toHtml(
    h(
      "html",
      { lang: language, dir: messages.dir },
      h(
        "head",
        {},
        headParts.start({ generatedAt: "", policy: headParts.policy(site, []) }),
        h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
        h("title", {}, title),
        h("base", { target: "_top" }), // an embedded page's is in a frame, where no other page may be
        h("link", { rel: "stylesheet", href: assets.pageCss }),
        headParts.style(site),
        headParts.icon(site, assets),
      ),
      h(
        "body",
        {},
        h(
          "main",
          { class: "prose" },
          siteParts.brand(site),
          h("h1", {}, title),
          h("p", {}, h("a", { href: paths.page }, messages.aboutBack)),
        ),
        links.length === 0 ? null : h("footer", { class: "foot" }, h("p", { class: "links" }, links)),
      ),
    ),
  )}`;
}

function contentOf(said: Said): ViewElement[] {
  const { making, site, messages, formats } = said;
  const { channel_limit: limit, impressions_counted: isCounted } = making;
  const channels = { videos: limit.videos, ranks: limit.within_ranks };
  return [
    h("p", {}, h("a", { href: paths.page }, messages.aboutBack)),
    h("h1", {}, messages.howMade),
    h("p", {}, isCounted ? messages.aboutClicks : messages.aboutViews, " ", messages.aboutSame),
    h("h2", {}, messages.aboutCounts),
    h(
      "ol",
      {},
      isCounted ? h("li", {}, messages.aboutVisitors) : null,
      h("li", {}, messages.aboutRate),
      h("li", {}, isCounted ? messages.aboutAgeLearned : messages.aboutAge),
      isCounted ? null : h("li", {}, messages.newestFirst),
      limit.within_ranks === 0 ? null : h("li", {}, fill(messages.aboutChannel, channels, formats)),
    ),
    ...exploring(said),
    h("h2", {}, messages.aboutFacts),
    facts(said),
    h("h2", {}, messages.aboutChange),
    h("p", {}, messages.aboutChoose),
    h("p", { class: "links" }, siteParts.links(site ?? {}, messages)),
  ];
}

function exploring({ making, messages, formats }: Said): ViewElement[] {
  const { explore_share: share, impressions_counted: isCounted } = making;
  if (!isCounted || share === null || share === 0) return [];
  return [h("p", {}, fill(messages.aboutExplore, { share: formats.percent(share) }))];
}

function facts(said: Said): ViewElement {
  const { making, messages, formats } = said;
  const { windows, sources, removed_videos: removed } = making;
  const { aboutFormula, aboutHours, aboutSources, aboutLists, aboutTake, aboutTakeNot } = messages;
  return h(
    "table",
    {},
    h(
      "tbody",
      {},
      making.formula === null ? null : fact(aboutFormula, making.formula),
      fact(aboutHours, windows.map(({ hours }) => formats.duration(hours)).join(", ")),
      sources === null ? null : fact(aboutSources, describeSources(sources, messages)),
      fact(aboutLists, making.impressions_counted ? aboutTake : aboutTakeNot),
      removed === null ? null : fact(messages.aboutRemoved, formats.whole(removed)),
      fact(messages.aboutMade, formats.time(making.generated_at)),
    ),
  );
}

function describeSources(sources: NonNullable<About["sources"]>, messages: Messages): string {
  const words: Record<SourceKind, string> = {
    ndjson: messages.sourceNdjson,
    http: messages.sourceHttp,
    youtube: messages.sourceYoutube,
    peertube: "PeerTube",
    edge: messages.sourceEdge,
    demo: messages.sourceDemo,
  };
  const names = sources.map(({ kind, host }) => `${words[kind]}${host === null ? "" : ` (${host})`}`);
  return names.length === 0 ? messages.aboutNone : names.join(", ");
}

function fact(name: string, value: string): ViewElement {
  return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value));
}
