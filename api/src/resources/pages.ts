import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultWindow } from "@trendvault/contract/lists";
import {
  allPageLanguages,
  type FeedForm,
  failureOf,
  feedUrl,
  isEmbedUrl,
  oembedUrl,
  type PageQuery,
  pageFields,
  pageUrl,
  policies,
  titlesOf,
} from "@trendvault/contract/page";
import { isAssetPath, paths } from "@trendvault/contract/paths";
import {
  type FeedQuery,
  missing,
  parseEmbedQuery,
  parseFeedQuery,
  parsePageQuery,
  readOembed,
  type TrendingQuery,
} from "@trendvault/contract/queries";
import { ownRegions, publicUrl, regionCodes } from "@trendvault/contract/regions";
import type { TrendingPage } from "@trendvault/contract/responses";
import { type Assets, readManifest } from "@trendvault/page/manifest";
import type { Generation } from "../database/store.ts";
import { readAbout, sourcesOf } from "./about.ts";
import {
  type Body,
  type Content,
  fixedContent,
  Refusal,
  type Resource,
  TokenContent,
  textBody,
  withoutParameters,
} from "./resource.ts";
import { type PageSources, readTrending } from "./trending.ts";

/** What pages of people are made from. `thumbHosts` are those whose pictures they show. */
export type HtmlSources = PageSources & { assets: PageAssets; thumbHosts: readonly string[] };

/** The pages of people, by path: each takes a query string (without its "?"). */
export function pagesOf(sources: HtmlSources): Map<string, (search: string) => Resource | Refusal> {
  return new Map<string, (search: string) => Resource | Refusal>([
    [paths.page, (search) => pageResource(search, sources)],
    [paths.embed, (search) => embedResource(search, sources)],
    [paths.oembed, (search) => oembedResource(search, sources)],
    [paths.aboutPage, withoutParameters(() => aboutPage(sources))],
    [paths.docs, withoutParameters(() => docsResource(sources.assets))],
    [paths.robots, withoutParameters(() => crawlerResource(paths.robots, sources))],
    [paths.sitemap, withoutParameters(() => crawlerResource(paths.sitemap, sources))],
  ]);
}

/** The HTML page that a query string (without its "?") selects, or why it selects none. */
function pageResource(search: string, sources: HtmlSources): Resource | Refusal {
  const { query, invalid } = parsePageQuery(`?${search}`);
  if (query === null) return Refusal.ofParameters(invalid);
  return pageAt(pageUrl(query), query, sources);
}

/** The same for a frame of another site. */
function embedResource(search: string, sources: HtmlSources): Resource | Refusal {
  const { query, invalid } = parseEmbedQuery(`?${search}`);
  if (query === null) return Refusal.ofParameters(invalid);
  return pageAt(pageUrl(query, paths.embed), query, sources);
}

/** How a consumer of oEmbed frames a page. */
function oembedResource(search: string, sources: HtmlSources): Resource | Refusal {
  const asked = readOembed(`?${search}`);
  if (asked.refused !== null) return Refusal.ofParameters(asked.refused.invalid, asked.refused.kind);
  const { query, invalid } = parseEmbedQuery(asked.search);
  if (query === null) return Refusal.ofParameters(invalid);
  return {
    url: oembedUrl(query, asked),
    route: "page",
    read(generation) {
      if (asked.site !== publicUrl()) return new Refusal("not-found", missing.publicUrl);
      const { lang: _, ...list } = query;
      const content = readTrending(list, generation, sources);
      return content instanceof Refusal
        ? content
        : fixedContent(pageWriters().writeOembed(query, asked.size));
    },
  };
}

function pageAt(url: string, query: TrendingQuery & PageQuery, sources: HtmlSources): Resource {
  return { url, route: "page", read: (generation) => readPage({ url, query }, generation, sources) };
}

/** A page is its list, and what it says of the list is what /api/trending says. */
function readPage(
  { url, query }: { url: string; query: TrendingQuery & PageQuery },
  generation: Generation,
  sources: HtmlSources,
): Content | Refusal {
  const { lang: _, ...list } = query;
  const titledIn = sources.lists.regionsWithTitles(generation);
  const titles = titlesOf(query, titledIn);
  const content = readTrending({ ...list, titles, fields: "chart" }, generation, sources);
  if (content instanceof Refusal) return restartAtPage(content, query);
  const { categories: all, regionsByKind: kinds } = sources.lists.choicesOf(generation);
  const categories = namedCategories(all, query.category);
  const ranking = generation.regions.get(query.region)?.id ?? generation.id;
  const made = sourcesOf(sources.lists.readMetadata(generation, ranking));
  const sendsViews = made.some(({ kind }) => kind === "edge"); // whose impressions the region's writer pulls
  const { assets, thumbHosts } = sources;
  const policy = policyOf(thumbHosts);
  const fields = pageFields({ policy }, url);
  const body = { contentType: htmlContentType, next: null, endsAt: content.endsAt, fields };
  return new TokenContent(content.list, body, () => {
    const json = new TextDecoder().decode(content.render("").bytes);
    const page = {
      query,
      categories,
      kinds,
      titledIn,
      sendsViews,
      json,
      assets: assets.paths,
      thumbHosts,
      policy,
    };
    return pageWriters().writeHtmlPage(page, { isEmbedded: isEmbedUrl(url) });
  });
}

/** The policy of the site's pages. */
function policyOf(thumbHosts: readonly string[]): string {
  return pageWriters().headParts.policy(ownRegions?.site, thumbHosts);
}

/** Those that a page links to, in order: all, unless there are very many. A catalogue decides how many there are. */
function namedCategories(all: ReadonlySet<string>, shown: string | undefined): string[] {
  const named = [...all].sort().slice(0, mostNamedCategories);
  return shown === undefined || named.includes(shown) ? named : [shown, ...named];
}

const mostNamedCategories = 100;

function restartAtPage(refusal: Refusal, { cursor: _, ...query }: PageQuery): Refusal {
  const { kind, detail, extras } = refusal;
  return extras.restart === undefined
    ? refusal
    : new Refusal(kind, detail, { ...extras, restart: pageUrl(query) });
}

/** The feed of a list that a query string (without its "?") selects, or why it selects none. */
export function feedResource(
  address: { region: string; form: FeedForm },
  search: string,
  sources: PageSources,
): Resource | Refusal {
  const { query, invalid } = parseFeedQuery(address, `?${search}`);
  if (query === null) return Refusal.ofParameters(invalid);
  return { url: feedUrl(query), route: "feed", read: (generation) => readFeed(query, generation, sources) };
}

// A feed says what /api/trending says.
function readFeed(query: FeedQuery, generation: Generation, sources: PageSources): Content | Refusal {
  const { form: _, ...list } = query;
  const content = readTrending(list, generation, sources);
  if (content instanceof Refusal) return content;
  const page = JSON.parse(new TextDecoder().decode(content.render("").bytes)) as TrendingPage;
  return fixedContent({ ...pageWriters().writeFeed(query, page), endsAt: content.endsAt });
}

/** How the lists are made, for people: the main parameters, in sentences. */
function aboutPage({ assets, ...sources }: Pick<HtmlSources, "assets" | "lists" | "thumbHosts">): Resource {
  return {
    url: paths.aboutPage,
    route: "page",
    read: (generation) => {
      const policy = policyOf([]);
      const making = readAbout(generation, sources);
      const html = pageWriters().writeAbout({ making, assets: assets.paths, policy, site: ownRegions?.site });
      const fields = pageFields({ policy }, paths.aboutPage);
      return fixedContent({ ...textBody(html, htmlContentType), fields });
    },
  };
}

/** What search engines are told of the pages: robots.txt, and the sitemap, where the site has a public address. */
function crawlerResource(path: string, { lists }: Pick<HtmlSources, "lists">): Resource {
  return {
    url: path,
    route: "page",
    read(generation) {
      const site = publicUrl();
      if (site === null) return new Refusal("not-found", missing.publicUrl);
      const robots = `User-agent: *\nDisallow: /api/\nSitemap: ${site}${paths.sitemap}\n`;
      if (path === paths.robots) return fixedContent(textBody(robots, "text/plain; charset=utf-8"));
      const choices = lists.choicesOf(generation);
      const sitemap = writeSitemap(site, (region) =>
        namedCategories(choices.categoriesIn(region), undefined),
      );
      return fixedContent(textBody(sitemap, "text/xml; charset=utf-8"));
    },
  };
}

/** The front pages in each language, and those of categories that have a list. No video: they are elsewhere. */
function writeSitemap(site: string, categoriesIn: (region: string) => readonly string[]): string {
  const window = defaultWindow;
  const pages = [
    ...regionCodes.flatMap((region) => allPageLanguages().map((lang) => pageUrl({ region, window, lang }))),
    ...regionCodes.flatMap((region) =>
      categoriesIn(region).map((category) => pageUrl({ region, window, category })),
    ),
  ];
  let urls = "";
  for (const page of pages) {
    if (urls.length < longestSitemap)
      urls += `<url><loc>${site}${page.replaceAll("&", "&amp;")}</loc></url>\n`;
  }
  const open = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">';
  return `<?xml version="1.0" encoding="UTF-8"?>\n${open}\n${urls}</urlset>\n`;
}

const longestSitemap = 1_000_000; // characters; edges read 2 MB

/** The reference of the API, for people: drawn in their browser from /openapi.json. */
function docsResource(assets: PageAssets): Resource {
  return {
    url: paths.docs,
    route: "page",
    read: () => {
      const body = textBody(pageWriters().writeDocs(assets.paths), htmlContentType);
      return fixedContent({ ...body, fields: pageFields({ policy: policies.docs }, paths.docs) });
    },
  };
}

/** Makes the page of a person who goes wrong, as failureOf says; null for a program, which gets a problem. */
type FailurePage = (
  status: number,
  asked: { path: string; headers: Headers; lang: string | null },
) => Pick<Body, "bytes" | "contentType" | "fields"> | null;

export function failurePage(assets: PageAssets): FailurePage {
  return (status, asked) => {
    const failure = failureOf(status, { ...asked, known: allPageLanguages() });
    if (failure === null) return null;
    const html = pageWriters().writeFailurePage(failure, assets.paths);
    return { ...textBody(html, htmlContentType), fields: pageFields({ policy: policyOf([]) }, asked.path) };
  };
}

const htmlContentType = "text/html; charset=utf-8";

/** The built files of the page. Nothing is read before it is asked for. */
export class PageAssets {
  /** web/page/dist, from the program upwards. */
  readonly #folder = findFolder(dirname(Bun.main));
  #assets: Assets | undefined;
  #files: ReadonlyMap<string, string> | undefined;

  /** The paths that a page names. @throws Error when they were not built */
  get paths(): Assets {
    this.#assets ??= readManifest(this.#read("manifest.json"));
    return this.#assets;
  }

  /** A file by its path, or null when there is none. @throws Error when none was built */
  resourceAt(path: string): Resource | null {
    const isFixed = path === paths.serviceWorker || path === paths.icon;
    if (!isFixed && !isAssetPath(path)) return null;
    const extension = path.slice(path.lastIndexOf(".") + 1);
    return {
      url: path,
      route: "asset",
      read: () => {
        const file = this.#known.get(path);
        if (file === undefined) return unknownAsset;
        return fixedContent(textBody(this.#read(file), contentTypes[extension] ?? "text/plain"));
      },
    };
  }

  get #known(): ReadonlyMap<string, string> {
    if (this.#files === undefined) {
      this.#read("manifest.json"); // says what to run when there is nothing
      const names = readdirSync(join(this.#folder, "public/assets"));
      const files = names.map((name): [string, string] => [`/assets/${name}`, `public/assets/${name}`]);
      const fixed = [paths.serviceWorker, paths.icon].map((path): [string, string] => [
        path,
        `public${path}`,
      ]);
      this.#files = new Map([...files, ...fixed]);
    }
    return this.#files;
  }

  #read(name: string): string {
    const path = join(this.#folder, name);
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      throw new Error(`Cannot read ${path}: run bin/setup, or bun web/page/build.ts, which builds the page`, {
        cause,
      });
    }
  }
}

const contentTypes: Record<string, string> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  ico: "image/svg+xml", // as the build writes it
};

const unknownAsset = new Refusal("not-found", missing.asset);

/** From source and as a bundle, the program is in another depth of the project. */
function findFolder(start: string): string {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, "web/page/dist");
    if (existsSync(join(found, "manifest.json"))) return found;
  }
  return join(start, "../../web/page/dist");
}

/** What only pages and feeds need, loaded with the first of them: the build has it in a file of its own. */
function pageWriters(): typeof import("./page-writers.ts") {
  const writers = require("./page-writers.ts") as typeof import("./page-writers.ts");
  if (writers.ownRegions !== ownRegions) writers.useRegions(ownRegions); // that file has a copy of the contract
  return writers;
}
