import {
  defaultWindow,
  kindOf,
  listLengths,
  listName,
  windowHours,
  windows,
} from "@trendvault/contract/lists";
import {
  allPageLanguages,
  feedUrl,
  frameSizes,
  mainLanguage,
  oembedUrl,
  type PageQuery,
  pageUrl,
  policies,
  titlesOf,
} from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import {
  builtInRegions,
  ownRegions,
  publicUrl,
  type Region,
  regions,
  type Site,
  styleOf,
} from "@trendvault/contract/regions";
import { type List, listView } from "../client/src/view/list-view.ts";
import {
  type Formats,
  fill,
  nameLanguage,
  nameWindow,
  type PageMessages,
  wordsOfPage,
} from "../client/src/view/locales/locale.ts";
import { dataBlock, h, toHtml, type ViewElement } from "../client/src/view/nodes.ts";
import type { Assets } from "./manifest.ts";

/** What the head and the foot of a page are made from, at the origin and in the browser. */
export type Shell = {
  query: PageQuery;
  language: string;
  messages: PageMessages;
  formats: Formats;
  /** Those that there are lists of. */
  categories: readonly string[];
  /** The same of the regions' lists by kind: their codes, by a parameter such as `live=now`. */
  kinds: Readonly<Record<string, string>>;
  /** Where lists can have titles in the language of the page: codes of regions. */
  titledIn?: string;
  thumbHosts: readonly string[];
  /** Whether this site counts what is looked at. */
  sendsViews: boolean;
  /** What the site says of itself, if anything. */
  site?: Site | undefined;
  /** Where the page is, and what a visitor's browser can do; the origin knows nothing of it. */
  device?: { origin: string; canCopy: boolean; canShare: boolean };
};

/** What the origin says of every page to its scripts: it does not depend on the list. */
export type PageData = Pick<
  Shell,
  "categories" | "kinds" | "titledIn" | "thumbHosts" | "sendsViews" | "site"
> & {
  /** The language of each region, by code, where the deployment has its own regions. */
  languages?: Record<string, string>;
  /** The site's own languages: the words of the one that the page is in, null of others. */
  words?: Record<string, PageMessages | null>;
};

/** A whole page. */
export type Page = Shell & {
  list: PageList;
  /** The same list as JSON, for the element. */
  json: string;
  assets: Assets;
  /** Its Content-Security-Policy. */
  policy: string;
};

type PageList = List & { generated_at: string; next: string | null };
type PageItem = PageList["items"][number];

/** The HTML of a page. */
export function writePage(page: Page): string {
  return `<!doctype html>${toHtml(documentView(page))}`;
}

function documentView(page: Page): ViewElement {
  return h(
    "html",
    { lang: page.language, dir: page.messages.dir },
    headView(page),
    h("body", {}, headerView(page), mainView(page), footView(page)),
  );
}

function headView(page: Page): ViewElement {
  const { assets, list } = page;
  const title = titleOf(page);
  return h(
    "head",
    {},
    headParts.start({ generatedAt: list.generated_at, policy: page.policy }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, title),
    h("link", { rel: "stylesheet", href: assets.pageCss }),
    // Also in the shadow root: loaded here, before anything is painted, nothing moves when it is applied there.
    h("link", { rel: "stylesheet", href: assets.listCss }),
    headParts.style(page.site),
    headParts.icon(page.site, assets),
    publicLinks(page),
    sharedView(page, title),
    feedsOf(page.query).map(({ href, type }) => h("link", { rel: "alternate", href, type, title })),
    h("script", { type: "module", src: assets.pageJs }),
    assets.pageParts.map((href) => h("link", { rel: "modulepreload", href })),
  );
}

function mainView(page: Page): ViewElement {
  const { messages, formats, list, categories, kinds, titledIn, sendsViews, thumbHosts, site } = page;
  return h(
    "main",
    { id: "list" },
    asOfView(list.generated_at, formats.time(list.generated_at), messages),
    h(
      "trendvault-list",
      {
        ...listAttributes(page),
        ...{
          limit: listLengths.defaultPage,
          fields: "chart",
          manual: true,
        },
        ...{ "thumb-hosts": thumbHosts.join(" ") || null, views: sendsViews, "report-url": site?.report_url },
      },
      h(
        "template",
        { shadowrootmode: "open" },
        h("link", { rel: "stylesheet", href: page.assets.listCss }),
        listView(list, { ...page, reportUrl: site?.report_url }),
      ),
      dataBlock("list-data", page.json),
    ),
    moreLink(list.next, page),
    dataBlock(
      "page-data",
      JSON.stringify({
        categories,
        kinds,
        ...(titledIn && { titledIn }),
        thumbHosts,
        sendsViews,
        site: inData(site),
        ...ownLanguages(page),
      }),
    ),
    h("div", { class: "notice", id: "notice", role: "status" }),
  );
}

/** Which list an element shows, and in which language. */
function listAttributes({ query, language, titledIn }: Pick<Shell, "query" | "language" | "titledIn">) {
  const { region, window, category, audience, live, duration } = query;
  const titles = titlesOf(query, titledIn);
  return { region, window, category, audience, live, duration, titles, lang: language };
}

/** A site without what sources call its categories, which only the writer reads: sixty kilobytes at most. */
function inData(site: Site | undefined): Site | undefined {
  if (site?.categories === undefined) return site;
  const named = Object.entries(site.categories).map(([category, { names }]) => [category, { names }]);
  return { ...site, categories: Object.fromEntries(named) };
}

/** What the page's scripts need of a deployment's own regions and languages. The built-in ones are in them. */
function ownLanguages({ language, messages }: Page): Pick<PageData, "languages" | "words"> {
  const own = Object.keys(ownRegions?.languages ?? {});
  const words = own.map((tag) => [tag, tag === language ? wordsOfPage(messages) : null]);
  return {
    ...(regions !== builtInRegions.regions && {
      languages: Object.fromEntries(regions.map(({ code }) => [code, mainLanguage(code)])),
    }),
    ...(own.length > 0 && { words: Object.fromEntries(words) }),
  };
}

/**
 * The address of a page for others, and where consumers of oEmbed find how to frame it: absolute (oembed.com, section 4),
 * so only where the site has a public address. What a request names as its host is anybody's.
 */
function publicLinks({ query }: Pick<Page, "query">): ViewElement[] {
  const site = publicUrl();
  if (site === null) return [];
  const oembed = site + oembedUrl({ ...query, cursor: undefined }, { site, size: frameSizes[0] });
  return [
    h("link", { rel: "canonical", href: site + pageUrl(query) }),
    h("link", { rel: "alternate", href: oembed, type: "application/json+oembed", title: "oEmbed" }),
  ];
}

/**
 * What search engines and those who share a page read of it: its first ranks, and its other languages. Nothing that
 * somebody has paid for: nobody would see the label.
 */
function sharedView(page: Page, title: string): ViewElement[] {
  const site = publicUrl();
  if (site === null) return [];
  const { query, list, language, ...shell } = page;
  const url = site + pageUrl(query);
  const items = list.items.filter(({ placed_by: by }) => by !== "sponsor");
  const ranks = items.slice(0, 3).map((item) => `${item.rank}. ${item.title}`);
  const picture = pictureOf(items[0], shell.thumbHosts) ?? shell.site?.logo;
  const described = {
    title,
    type: "website",
    url,
    image: picture,
    locale: language,
    site_name: shell.site?.name,
  };
  const description = ranks.join(" · ") || undefined;
  return [
    ...otherLanguages(page).map(([hreflang, href]) =>
      h("link", { rel: "alternate", hreflang, href: site + href }),
    ),
    ...(description === undefined ? [] : [h("meta", { name: "description", content: description })]),
    ...Object.entries({ ...described, description }).flatMap(([name, content]) =>
      content === undefined ? [] : [h("meta", { property: `og:${name}`, content })],
    ),
    dataBlock("list-items", JSON.stringify(itemListOf(items, { name: title, url })), "application/ld+json"),
  ];
}

/** The picture of a video, where the page shows it, too. */
function pictureOf(first: PageItem | undefined, thumbHosts: readonly string[]): string | undefined {
  const picture = first?.thumbs[0];
  const isShown =
    picture !== undefined && URL.canParse(picture) && thumbHosts.includes(new URL(picture).host);
  return isShown ? picture : undefined;
}

/** The other languages of a front page, which are everywhere that it is; "x-default" is the region's own. */
function otherLanguages({ query: { lang: _, ...query } }: Page): [string, string][] {
  if (listName(query) !== "" || query.cursor !== undefined) return [];
  const languages = allPageLanguages().map((lang): [string, string] => [
    lang,
    pageUrl(lang === mainLanguage(query.region) ? query : { ...query, lang }),
  ]);
  return [...languages, ["x-default", pageUrl(query)]];
}

/** The list in the words of schema.org. */
function itemListOf(items: readonly PageItem[], { name, url }: { name: string; url: string }): object {
  const itemListElement = items.map((item) => ({
    "@type": "ListItem",
    position: item.rank,
    name: item.title,
    ...(/^https?:/.test(item.url ?? "") && { url: item.url }), // others are no links in the page either
  }));
  return { "@context": "https://schema.org", "@type": "ItemList", name, url, itemListElement };
}

/** The parts that change with the list: the page's script makes them anew. */
export const pageParts = {
  header: headerView,
  asOf: asOfView,
  more: moreLink,
  foot: footView,
  share: shareView,
  title: titleOf,
  attributes: listAttributes,
};

/** What is shown, and the pickers: links and a form that work without scripts. Each link is a canonical URL. */
function headerView(shell: Shell): ViewElement {
  const { query, messages, formats } = shell;
  return h(
    "header",
    { class: "header", id: "header" },
    h("a", { class: "skip", href: "#list" }, messages.toList), // here, since what is in no landmark is not found by it
    siteParts.brand(shell.site),
    h(
      "div",
      { class: "top" },
      h("h1", {}, messages.trending, " ", h("span", { class: "where" }, formats.regionName(query.region))),
      regionForm(shell),
    ),
    windowLinks(shell),
    categoryLinks(shell),
  );
}

/** The same list in another window, category or language; a page of another list begins at the top. */
function linkTo({ query }: Shell, changes: Partial<PageQuery>): string {
  return pageUrl({ ...query, cursor: undefined, ...changes });
}

type NamedRegion = { code: string; name: string };
const sorted = new WeakMap<readonly Region[], Map<string, NamedRegion[]>>();

/** The regions by their names in a language, sorted once: a page has them all. */
function sortedRegions({ language, formats }: Shell): NamedRegion[] {
  const byLanguage = sorted.get(regions) ?? new Map<string, NamedRegion[]>();
  sorted.set(regions, byLanguage);
  const known = byLanguage.get(language);
  if (known !== undefined) return known;
  const named = regions.map(({ code }) => ({ code, name: formats.regionName(code) }));
  named.sort((left, right) => left.name.localeCompare(right.name, language));
  byLanguage.set(language, named);
  return named;
}

function regionForm(shell: Shell): ViewElement {
  const { query, messages } = shell;
  const options = sortedRegions(shell).map(({ code, name }) =>
    h("option", { value: code, selected: code === query.region }, name),
  );
  const { window, category, audience, live, duration, lang } = query;
  const kept = { window, category, audience, live, duration, lang }; // a region without that list leads to its own
  return h(
    "form",
    { class: "region", action: "/", method: "get" },
    h(
      "label",
      {},
      h("span", { class: "hidden" }, messages.region),
      h("select", { name: "region", autocomplete: "off" }, options),
    ),
    Object.entries(kept).map(([name, value]) =>
      value === undefined || value === defaultWindow ? null : h("input", { type: "hidden", name, value }),
    ),
    h("button", { type: "submit" }, messages.show),
  );
}

function windowLinks(shell: Shell): ViewElement {
  const { query, messages } = shell;
  const links = windows.map((window) =>
    pickLink(nameWindow(windowHours[window], shell), linkTo(shell, { window }), window === query.window),
  );
  return h("nav", { class: "windows", "aria-label": messages.window }, links);
}

function categoryLinks(shell: Shell): ViewElement | null {
  const { query, messages, categories, kinds } = shell;
  const names = Object.keys(kinds).filter((name) => isListed(name, shell));
  if (categories.length + names.length === 0) return null;
  const { region, window, lang } = query;
  const link = (name: string, choice: Partial<PageQuery>) =>
    pickLink(name, pageUrl({ region, window, ...choice, lang }), listName(query) === listName(choice));
  const ofKinds = names.map((name) => link(nameKind(name, messages), Object.fromEntries([name.split("=")])));
  const ofCategories = categories.map((category) => link(nameCategory(category, shell), { category }));
  const all = link(messages.allCategories, {});
  return h("nav", { class: "categories", "aria-label": messages.category }, all, ofKinds, ofCategories);
}

/** Whether a page's region has a list by a kind, such as `live=now`. */
function isListed(name: string, { kinds, query }: Pick<Shell, "kinds" | "query">): boolean {
  return kinds[name]?.includes(query.region) ?? false;
}

function nameKind(name: string, { kids, live, short, long }: PageMessages): string {
  const names: Record<string, string> = { "audience=kids": kids, "duration=long": long, "live=now": live };
  return names[name] ?? short;
}

/** What the site calls a category in a language of the page, else what we do. */
function nameCategory(
  category: string,
  { site, messages, formats }: Pick<Shell, "site" | "messages" | "formats">,
): string {
  const own = site?.categories?.[category]?.names?.[formats.language];
  const ours = Object.hasOwn(messages.categories, category) ? messages.categories[category] : undefined;
  return own ?? ours ?? category; // a source may call one "constructor"
}

function pickLink(name: string, href: string, isCurrent: boolean): ViewElement {
  return h("a", { href, "data-pick": true, "aria-current": isCurrent ? "true" : null, dir: "auto" }, name);
}

/** The title of a page, for the tab; with how far it looks ahead, of a feed: a reader may have several of a region. */
function titleOf(shell: Pick<Shell, "messages" | "formats" | "query" | "site">, ahead = ""): string {
  const { messages, formats, query, site } = shell;
  const by = kindOf(query);
  const named =
    by === null
      ? query.category && nameCategory(query.category, shell)
      : nameKind(`${by.kind}=${by.value}`, messages);
  const category = named === undefined ? "" : ` · ${named}`;
  const name = site === undefined ? "" : ` – ${site.name}`;
  return `${messages.trending}: ${formats.regionName(query.region)}${category}${ahead}${name}`;
}

/** What every page shows of its site. */
export const siteParts = {
  /** The name and the logo, which lead to the front page. */
  brand(site: Site | undefined): ViewElement | null {
    if (site === undefined) return null;
    const { name, logo: src } = site;
    const logo =
      src === undefined ? null : h("img", { src, alt: "", height: 32, referrerpolicy: "no-referrer" });
    return h("p", { class: "brand" }, h("a", { href: paths.page, dir: "auto" }, logo, name));
  },

  /** The links that the law asks for. */
  links(
    { imprint_url: imprint, privacy_url: privacy }: Partial<Site>,
    messages: Pick<PageMessages, "imprint" | "privacy">,
  ): ViewElement[] {
    return [
      ...(imprint === undefined ? [] : [h("a", { href: imprint }, messages.imprint)]),
      ...(privacy === undefined ? [] : [h("a", { href: privacy }, messages.privacy)]),
    ];
  },
};

/** When the list was made (RFC 3339), in words that say so. */
function asOfView(generatedAt: string, text: string, messages: PageMessages): ViewElement {
  const [before = "", after = ""] = fill(messages.listOf, { time: "\n" }).split("\n");
  const time = h("time", { datetime: generatedAt }, text);
  return h("p", { class: "as-of", id: "as-of" }, before, time, after);
}

/** The link to the next ranks of the same generation; null at the end of the list. `next` is the list's. */
function moreLink(
  next: string | null,
  { query, messages }: Pick<Shell, "query" | "messages">,
): ViewElement | null {
  const cursor = next === null ? null : new URL(next, "https://site.example").searchParams.get("cursor");
  if (cursor === null) return null;
  const link = h("a", { rel: "next", href: pageUrl({ ...query, cursor }) }, messages.more);
  return h("p", { class: "more", id: "more" }, link);
}

/** What is sent and what is not, how the list is made, its feeds, other languages. */
function footView(shell: Shell): ViewElement {
  const { messages, thumbHosts, sendsViews } = shell;
  const logo = shell.site?.logo;
  const hosts = [...new Set(logo === undefined ? thumbHosts : [...thumbHosts, new URL(logo).host])].join(
    ", ",
  );
  return h(
    "footer",
    { class: "foot", id: "foot" },
    h(
      "p",
      { class: "links" },
      h("a", { href: `${paths.aboutPage}#${shell.language}` }, messages.howMade),
      feedsOf(shell.query).map(({ href, type, name }) =>
        h("a", { href, type }, `${messages.feed} (${name})`),
      ),
      h("a", { href: paths.docs }, "API"),
      siteParts.links(shell.site ?? {}, messages),
    ),
    h("p", {}, sendsViews ? messages.sends : messages.sendsNothing, " ", messages.noCookies),
    hosts === "" ? null : h("p", {}, fill(messages.foreignThumbs, { hosts })),
    languageLinks(shell),
    addressOf(shell) === undefined
      ? null
      : h("details", { id: "share" }, h("summary", {}, messages.share), shareView(shell)),
  );
}

/** Where visitors find the page, as a URL; undefined at an origin that nobody has told. */
function addressOf({ site, device }: Shell): string | undefined {
  return site?.public_url ?? device?.origin;
}

/** A link to a page, and a frame with its list, as texts: what cannot be copied can be selected. */
function shareView(shell: Shell): ViewElement {
  const { query, messages, device } = shell;
  const page = { ...query, cursor: undefined };
  const title = titleOf(shell);
  const url = new URL(pageUrl(page), addressOf(shell)).href;
  const src = new URL(pageUrl(page, paths.embed), url).href;
  const mail = `mailto:?subject=${encodeURIComponent(title)}&body=${encodeURIComponent(url)}`;
  const button = (name: string, ...label: (string | ViewElement)[]) =>
    h("button", { type: "button", name, "aria-live": "polite" }, label);
  const field = (label: string, text: string) =>
    h(
      "p",
      {},
      h(
        "label",
        {},
        label,
        h("textarea", { readonly: true, rows: Math.ceil(text.length / 45), dir: "ltr" }, text),
      ),
      device?.canCopy ? button("copy", messages.copy, h("span", { class: "hidden" }, ` (${label})`)) : null,
    );
  return h(
    "div",
    { id: "shared" },
    field(title, url),
    h("p", {}, device?.canShare ? button("share", messages.share) : h("a", { href: mail }, messages.email)),
    field("HTML", toHtml(h("iframe", { src, title, width: "100%", height: frameSizes[0] }))),
  );
}

/** The feeds of a page's list. */
function feedsOf(query: PageQuery): { href: string; type: string; name: string }[] {
  return [
    { href: feedUrl({ ...query, form: "atom" }), type: "application/atom+xml", name: "Atom" },
    { href: feedUrl({ ...query, form: "json" }), type: "application/feed+json", name: "JSON" },
  ];
}

function languageLinks({ query, language, messages }: Shell): ViewElement {
  const links = allPageLanguages().map((lang) => {
    const href = pageUrl({
      ...query,
      cursor: undefined,
      lang: lang === mainLanguage(query.region) ? undefined : lang,
    });
    const current = lang === language ? "true" : null;
    return h(
      "a",
      { href, "data-pick": true, lang, hreflang: lang, "aria-current": current },
      nameLanguage(lang),
    );
  });
  return h("nav", { class: "languages", "aria-label": messages.language }, links);
}

/** What the heads of pages have in common. */
export const headParts = {
  /** Their policy (Content-Security-Policy), with the logo's host and the hash of the colours of the site. */
  policy(site: Site | undefined, thumbHosts: readonly string[]): string {
    if (site === undefined) return policies.page(thumbHosts);
    const { logo } = site;
    const css = styleOf(site);
    const hash = css === "" ? "" : ` 'sha256-${new Bun.CryptoHasher("sha256").update(css).digest("base64")}'`;
    return policies.page(logo === undefined ? thumbHosts : [...thumbHosts, new URL(logo).host], hash);
  },

  /** How they begin; contract/page.ts reads it. */
  start: ({ generatedAt, policy }: { generatedAt: string; policy: string }): ViewElement[] => [
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "generated", content: generatedAt }),
    h("meta", { "http-equiv": "content-security-policy", content: policy }),
  ],

  /** The site's style sheet, whose hash the policy names. Nothing of it comes from outside of the deployment. */
  style(site: Site | undefined): ViewElement | null {
    const css = site === undefined ? "" : styleOf(site);
    return css === "" ? null : { tag: "style", attributes: {}, children: [css] };
  },

  icon: (site: Site | undefined, { icon }: Pick<Assets, "icon">): ViewElement =>
    site?.logo === undefined
      ? h("link", { rel: "icon", href: icon, type: "image/svg+xml" })
      : h("link", { rel: "icon", href: site.logo }),
};

/** The HTML of a list in a frame of another site. What is opened there opens beside that site. */
export function writeEmbed(page: Page): string {
  return `<!doctype html>${toHtml(h("html", { lang: page.language, dir: page.messages.dir }, embedHeadView(page), embedBodyView(page)))}`;
}

function embedHeadView(page: Page): ViewElement {
  const { assets, list, policy } = page;
  return h(
    "head",
    {},
    headParts.start({ generatedAt: list.generated_at, policy }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, titleOf(page)),
    h("base", { target: "_blank" }),
    h("link", { rel: "stylesheet", href: assets.pageCss }),
    h("link", { rel: "stylesheet", href: assets.embedCss }), // as in a page, before anything is painted
    headParts.style(page.site),
    publicLinks(page),
    h("script", { type: "module", src: assets.embedJs }),
  );
}

function embedBodyView(page: Page): ViewElement {
  const { assets, list, messages, query, sendsViews, site, thumbHosts } = page;
  const hosts = thumbHosts.join(" ");
  return h(
    "body",
    { class: "framed" },
    h(
      "main",
      {},
      h("h1", {}, h("a", { href: pageUrl(query) }, titleOf(page))),
      h(
        "trendvault-list",
        {
          ...listAttributes(page),
          ...{ limit: listLengths.defaultPage, fields: "chart" },
          ...{ "thumb-hosts": hosts, views: sendsViews, "report-url": site?.report_url },
        },
        h(
          "template",
          { shadowrootmode: "open" },
          h("link", { rel: "stylesheet", href: assets.embedCss }),
          listView(list, { ...page, reportUrl: site?.report_url }),
        ),
        dataBlock("list-data", page.json),
      ),
      h(
        "p",
        { class: "sent" },
        siteParts.links(site ?? {}, messages).flatMap((link) => [link, " · "]),
        sendsViews ? messages.sends : messages.sendsNothing,
        hosts === "" ? null : ` ${fill(messages.foreignThumbs, { hosts: thumbHosts.join(", ") })}`,
      ),
    ),
  );
}

/** The HTML of /docs: a shell that Swagger UI fills. Without scripts it links to the description itself. */
export function writeDocs({ pageCss, docsCss, swaggerCss, swaggerJs, docsJs, icon }: Assets): string {
  const head = h(
    "head",
    {},
    headParts.start({ generatedAt: "", policy: policies.docs }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    h("title", {}, "TrendVault: the API"),
    [pageCss, swaggerCss, docsCss].map((href) => h("link", { rel: "stylesheet", href })),
    h("link", { rel: "icon", href: icon, type: "image/svg+xml" }),
    h("script", { defer: true, src: swaggerJs }),
    h("script", { type: "module", src: docsJs }), // run after it: both wait for the whole document, in order
  );
  const link = h("a", { href: paths.openapi }, "The description of the API (OpenAPI 3.1)");
  const body = h("body", {}, h("div", { id: "docs" }, h("p", {}, link)));
  return `<!doctype html>${toHtml(h("html", { lang: "en" }, head, body))}`;
}
