import { windowHours } from "@trendvault/contract/lists";
import {
  type failureOf,
  feedTypes,
  feedUrl,
  mainLanguage,
  type PageLanguage,
  type PageQuery,
  pageLanguageOf,
  pageUrl,
} from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import type { FeedQuery } from "@trendvault/contract/queries";
import { ownRegions, publicUrl, type Site } from "@trendvault/contract/regions";
import type { TrendingPage } from "@trendvault/contract/responses";
import { writeAbout as writeAboutPage, writeFailure } from "@trendvault/page/about-view";
import type { Assets } from "@trendvault/page/manifest";
import { pageParts, writeEmbed, writePage } from "@trendvault/page/page-view";
import Builder from "fast-xml-builder";
import { placementText } from "../../../web/client/src/view/list-view.ts";
import { allMessages } from "../../../web/client/src/view/locales/all.ts";
import {
  type Formats,
  formatsOf,
  type Messages,
  nameWindow,
} from "../../../web/client/src/view/locales/locale.ts";
import { h, toHtml } from "../../../web/client/src/view/nodes.ts";
import { type Body, jsonBody, type TextAroundToken, textBody } from "./resource.ts";

/** What only pages and feeds need: words of all languages, templates, the XML writer. Loaded with the first of them. */
export { ownRegions, useRegions } from "@trendvault/contract/regions";
export { headParts, writeDocs } from "@trendvault/page/page-view";

/** `json` is the list, with an empty token. */
type Input = {
  query: PageQuery;
  json: string;
  categories: readonly string[];
  kinds: Readonly<Record<string, string>>;
  titledIn: string;
  assets: Assets;
  thumbHosts: readonly string[];
  policy: string;
  sendsViews: boolean;
};

/** Writes a page as HTML, but for the token in its data. */
export function writeHtmlPage(
  { query, json, ...others }: Input,
  { isEmbedded }: { isEmbedded: boolean },
): TextAroundToken {
  const language = pageLanguageOf(query);
  const text = (isEmbedded ? writeEmbed : writePage)({
    ...{ query, language, messages: messagesOf(language), formats: formatsOf(language) },
    ...{ json, list: JSON.parse(json), site: ownRegions?.site },
    ...others,
  });
  // No title can hold the beginning of this block: its "<" is escaped. In a title's JSON, quotes are escaped.
  return { text, tokenAt: text.indexOf('"token":""', text.indexOf(dataStart)) + '"token":"'.length };
}

const dataStart = '<script type="application/json" id="list-data">';

/** Writes how lists are made, in all languages. */
export function writeAbout(page: Omit<Parameters<typeof writeAboutPage>[0], "messagesOf">): string {
  return writeAboutPage({ ...page, messagesOf });
}

/** Writes what oEmbed (oembed.com) says of a page: a frame of `size` pixels with the embedded one. */
export function writeOembed(query: PageQuery, size: number): Body {
  const language = pageLanguageOf(query);
  const site = ownRegions?.site;
  const title = pageParts.title({
    messages: messagesOf(language),
    formats: formatsOf(language),
    query,
    site,
  });
  const src = publicUrl() + pageUrl(query, paths.embed);
  const html = toHtml(h("iframe", { src, width: size, height: size, title }));
  const provider = { provider_name: site?.name, provider_url: publicUrl() };
  const frame = { html, width: size, height: size, cache_age: oembedSeconds };
  return jsonBody(JSON.stringify({ version: "1.0", type: "rich", title, ...provider, ...frame }));
}

const oembedSeconds = 86_400; // nothing in it is of the list

/** Writes what a person sees who goes wrong: `failure` of failureOf, which says of what and in which language. */
export function writeFailurePage(
  [sentence, language]: NonNullable<ReturnType<typeof failureOf>>,
  assets: Assets,
): string {
  return writeFailure({ sentence, language, messages: messagesOf(language), assets, site: ownRegions?.site });
}

/** Writes the feed of a list, in the main language of its region. */
export function writeFeed(query: FeedQuery, list: TrendingPage): Body {
  const language = mainLanguage(query.region);
  const messages = messagesOf(language);
  const formats = formatsOf(language);
  const site = ownRegions?.site;
  const ahead = nameWindow(windowHours[query.window], { messages, formats });
  const title = pageParts.title({ messages, formats, query, site }, ` · ${ahead}`);
  const entries = list.items.map((item) => describeEntry(item, messages, formats));
  const text =
    query.form === "json"
      ? JSON.stringify(jsonFeed(list, { title, language, entries, site }))
      : atomFeed(query, list, { title, language, entries, site });
  return textBody(text, feedTypes[query.form]);
}

/** Those that are built in, or the site's own, which are whole: key-files.ts has read them. */
function messagesOf(language: string): Messages {
  return allMessages[language as PageLanguage] ?? (ownRegions?.languages?.[language] as Messages);
}

type Item = TrendingPage["items"][number];
type Feed = { title: string; language: string; entries: Entry[]; site: Site | undefined };

/** What both forms say of a video. `id` is an absolute IRI that no other video has, and that stays the same whatever changes. */
type Entry = { id: string; title: string; summary: string; item: Item };

function describeEntry(item: Item, messages: Messages, formats: Formats): Entry {
  const { views, views_per_hour } = item.velocity;
  const rate = views === 0 ? "" : ` ${formats.whole(views_per_hour)} ${messages.viewsAnHour}`; // 0: nobody counted it
  const placed = placementText(item, messages); // before the title: readers may show nothing else
  const title = placed === null ? item.title : `[${placed}] ${item.title}`;
  return { id: nameId(`video:${item.id}`), title, summary: `${item.rank}.${rate}`, item };
}

/** A name as a URN (RFC 9562, version 5): the origin does not know the host that it is asked through. */
function nameId(name: string): string {
  return `urn:uuid:${Bun.randomUUIDv5(`trendvault:${name}`, "url")}`;
}

/** JSON Feed 1.1. What is not in its vocabulary is in `_trendvault`, as it asks. */
function jsonFeed(list: TrendingPage, feed: Feed) {
  const { region, window, category, generation, generated_at, score_unit } = list;
  const { audience, live, duration } = list; // each only of a list by it
  return {
    version: "https://jsonfeed.org/version/1.1",
    title: feed.title,
    language: feed.language,
    ...(feed.site !== undefined && { authors: [{ name: feed.site.name }], icon: feed.site.logo }),
    _trendvault: {
      ...{ region, window, category, audience, live, duration },
      ...{ generation, generated_at, score_unit },
    },
    items: feed.entries.map(({ id, title, summary, item }) => ({
      id,
      ...(item.url !== null && { url: item.url }),
      title,
      content_text: summary,
      ...(/^http/.test(item.thumbs[0]) && { image: item.thumbs[0] }),
      ...(item.published_at !== null && { date_published: item.published_at }),
      authors: [{ name: item.channel }],
      ...(item.category !== null && { tags: [item.category] }),
      _trendvault: {
        video: item.id,
        rank: item.rank,
        previous_rank: item.previous_rank,
        score: item.score,
        expected_views: item.expected_views,
        duration_seconds: item.duration_seconds,
        live: item.live,
        ...(item.placed_by !== undefined && {
          placed_by: item.placed_by,
          ...(item.sponsor !== undefined && { sponsor: item.sponsor }),
          model_rank: item.model_rank,
        }),
      },
    })),
  };
}

/** Of the elements that Atom does not know (RFC 4287, section 6): what `_trendvault` has in the other form. */
const namespace = "https://github.com/trendvault/trendvault";

/** Atom (RFC 4287). Links to this server are relative to the address of the feed. */
function atomFeed(query: FeedQuery, { generated_at, score_unit }: TrendingPage, feed: Feed): string {
  const address = feedUrl(query);
  return new Builder({
    ignoreAttributes: false,
    attributeNamePrefix: "@",
    suppressEmptyNode: true,
  }).build({
    "?xml": { "@version": "1.0", "@encoding": "utf-8" },
    feed: {
      "@xmlns": "http://www.w3.org/2005/Atom",
      "@xmlns:trendvault": namespace,
      "@xml:lang": feed.language,
      id: nameId(address),
      title: xmlText(feed.title),
      updated: generated_at,
      ...(feed.site !== undefined && { author: { name: xmlText(feed.site.name) }, logo: feed.site.logo }),
      link: [
        { "@rel": "self", "@href": address, "@type": feedTypes.atom },
        { "@rel": "alternate", "@href": pageUrl(query), "@type": "text/html" },
        { "@rel": "alternate", "@href": address.replace(/\.atom/, ".json"), "@type": feedTypes.json },
      ],
      "trendvault:score_unit": score_unit,
      entry: feed.entries.map((entry) => atomEntry(entry, generated_at)),
    },
  });
}

function atomEntry({ id, title, summary, item }: Entry, generatedAt: string) {
  return {
    id: xmlText(id),
    title: { "@type": "text", "#text": xmlText(title) },
    updated: item.published_at ?? generatedAt, // not with every list: readers would show each video again
    ...(item.published_at !== null && { published: item.published_at }),
    author: { name: xmlText(item.channel) },
    ...(item.category !== null && { category: { "@term": xmlText(item.category) } }),
    ...(item.url !== null && { link: { "@rel": "alternate", "@href": xmlText(item.url) } }),
    // an entry without a link needs content (section 4.1.2)
    [item.url === null ? "content" : "summary"]: { "@type": "text", "#text": xmlText(summary) },
    "trendvault:score": item.score,
    ...(item.expected_views !== null && { "trendvault:expected_views": item.expected_views }),
    ...(item.duration_seconds !== undefined && { "trendvault:duration_seconds": item.duration_seconds }),
    ...(item.live !== undefined && { "trendvault:live": item.live }),
    ...(item.placed_by !== undefined && {
      "trendvault:placed_by": item.placed_by,
      ...(item.sponsor !== undefined && {
        "trendvault:sponsor": {
          "@paid_by": xmlText(item.sponsor.paid_by),
          "#text": xmlText(item.sponsor.name),
        },
      }),
      ...(item.model_rank !== null && { "trendvault:model_rank": item.model_rank }),
    }),
  };
}

/** Without what XML 1.0 has no way to write (section 2.2). */
function xmlText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.toWellFormed().replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
}
