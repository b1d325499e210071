import { defaultWindow, type ListChoice, listLengths } from "./lists.ts";
import { paths } from "./paths.ts";
import { problemContentType } from "./problem.ts";
import { builtInRegions, findRegion, ownRegions } from "./regions.ts";

/** What a page shows. `lang` is one of the languages of the page, and undefined for the region's main one. */
export type PageQuery = {
  region: string;
  window: string;
  lang?: string | undefined;
  cursor?: string | undefined;
} & Omit<ListChoice, "language">;

/** The one URL of a page: fixed order, defaults left out except the region. It is a cache key. `path`: that of `/embed`, too. */
export function pageUrl(
  { region, window, category, audience, live, duration, lang, cursor }: PageQuery,
  path: string = paths.page,
): string {
  const own = lang === mainLanguage(region) ? undefined : lang;
  return listUrl(path, region, { window, category, audience, live, duration, lang: own, cursor });
}

/** A URL with a region and other parameters in their order, as far as they are not the default. */
export function listUrl(
  path: string,
  region: string,
  parameters: Record<string, string | number | undefined>,
): string {
  let url = `${path}?region=${region}`;
  for (const name in parameters) {
    const value = parameters[name];
    if (value !== undefined && value !== defaults[name]) url += `&${name}=${encodeQueryValue(String(value))}`;
  }
  return url;
}

const defaults: Record<string, unknown> = { window: defaultWindow, limit: listLengths.defaultPage };

// fetch() and URL write an apostrophe of a query as %27 (WHATWG URL, special-query percent-encode set), which
// encodeURIComponent leaves as it is: a signed or cached target must be what is sent.
function encodeQueryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("'", "%27");
}

/** The sides of the frames that oEmbed offers, in pixels. */
export const frameSizes = [600, 500, 300] as const;

/** The one URL of what oEmbed says of a page. It is a cache key. */
export function oembedUrl(query: PageQuery, { site, size }: { site: string; size: number }): string {
  const most = size === frameSizes[0] ? "" : `&maxwidth=${size}`;
  return `${paths.oembed}?url=${encodeURIComponent(site + pageUrl(query))}${most}`;
}

/** The forms of a feed, with their media types: JSON Feed 1.1, and Atom (RFC 4287). */
export const feedTypes = { json: "application/feed+json", atom: "application/atom+xml" } as const;
export type FeedForm = keyof typeof feedTypes;

/** A feed: of a list's first ranks, in one form. */
type Feed = Omit<PageQuery, "lang" | "cursor"> & { form: FeedForm };

/** The one URL of a feed: defaults left out. It is a cache key. */
export function feedUrl({ region, form, window, category, audience, live, duration }: Feed): string {
  const url = pageUrl({ region, window, category, audience, live, duration });
  const [, search = ""] = /[A-Z]+&(.+)$/.exec(url) ?? [];
  return `/feeds/${region}.${form}${search === "" ? "" : `?${search}`}`;
}

/** The languages of the page that are built in (BCP 47), as web/client/src/view/locales has them. */
export const pageLanguages = [
  "en",
  "de",
  "fr",
  "es",
  "it",
  "nl",
  "pl",
  "sv",
  "pt",
  "da",
  "cs",
  "ar",
] as const;
export type PageLanguage = (typeof pageLanguages)[number];

/** All languages of this deployment's page: those, and its own. */
export function allPageLanguages(): readonly string[] {
  return [...pageLanguages, ...Object.keys((ownRegions ?? builtInRegions).languages ?? {})];
}

/** The language of the page with this tag, or undefined. */
export function findPageLanguage(tag: string | undefined): string | undefined {
  return allPageLanguages().find((language) => language === tag);
}

/** The language of a region's page that names none: the first of the region's that the page has, else English. */
export function mainLanguage(region: string): string {
  for (const tag of findRegion(region)?.languages ?? []) {
    const language = findPageLanguage(tag.split("-")[0]?.toLowerCase());
    if (language !== undefined) return language;
  }
  return "en";
}

/**
 * The page of a person who goes wrong with a status: which of three sentences it says, and in which of the `known`
 * languages: `lang`, that of the page that was asked for, else the one that their browser wants most. Null for who wants
 * JSON as much. Accept-Language is read of others only.
 */
export function failureOf(
  status: number,
  { headers, lang, known }: { headers: Pick<Headers, "get">; lang: string | null; known: readonly string[] },
): [404 | 400 | 503, string] | null {
  if (!wantsPage(headers.get("accept") ?? "")) return null;
  const tags = readWeights(headers.get("accept-language") ?? "").flatMap(([tag, weight]) =>
    weight > 0 ? tag.split("-").slice(0, 1) : [],
  );
  const language = [lang, ...tags].find((tag) => tag !== null && known.includes(tag)) ?? "en";
  const isGone = status === 404 || status === 410;
  return [isGone ? 404 : status < 500 && status !== 429 ? 400 : 503, language];
}

/** Whether Accept (RFC 9110, section 12.5.1) prefers HTML to JSON. Of equal ones, what is named is preferred to a range. */
function wantsPage(accept: string): boolean {
  const weights = new Map(readWeights(accept).reverse()); // of a type that is there twice, the higher one
  weights.delete(""); // an empty element (section 5.6.1)
  const weigh = (type: string) => {
    const ranges = [type, type.replace(/\/.*/, "/*"), "*/*"];
    const found = ranges.findIndex((range) => weights.has(range));
    return (weights.get(ranges[found] ?? "") ?? 0) - (found > 0 ? found * rangeWeight : 0);
  };
  const html = weigh("text/html");
  return html > 0 && [problemContentType, "application/json"].every((type) => html > weigh(type));
}

const rangeWeight = 0.0001; // weights have three digits

/** The elements of a field and their weights (section 12.4.2), the highest first. What is no weight counts as 0. */
function readWeights(field: string): [string, number][] {
  return field
    .toLowerCase()
    .split(",")
    .map((element): [string, number] => {
      const [name = "", ...parameters] = element.split(";").map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
    })
    .sort(([, one], [, other]) => other - one);
}

/**
 * The language to ask a page's titles in: the page's, where the region's lists may have titles of it; its own needs no
 * asking. `titledIn`: codes of the regions whose lists may.
 */
export function titlesOf({ lang, region }: PageQuery, titledIn = ""): string | undefined {
  return titledIn.includes(region) && lang !== mainLanguage(region) ? lang : undefined;
}

/** The language that a page is written in. */
export function pageLanguageOf({ lang, region }: Pick<PageQuery, "lang" | "region">): string {
  return findPageLanguage(lang ?? mainLanguage(region)) ?? "en";
}

/**
 * The first two meta elements of a page with a content: when its list was made (RFC 3339; "" for a page without a list),
 * and its Content-Security-Policy. Origin and edge take the header fields of a page from there, where they are signed.
 */
type PageHead = { generatedAt: string; policy: string };

/** Reads them, or gives null when it is no page of ours. */
export function readPageHead(html: string): PageHead | null {
  const [generatedAt = "", policy] = html
    .slice(0, longestHead)
    .split('content="')
    .slice(1, 3)
    .map((part) => (part.includes('"') ? part.slice(0, part.indexOf('"')) : undefined)); // a part of a policy is none
  return policy === undefined ? null : { generatedAt, policy };
}

const longestHead = 4096; // characters

/**
 * The header fields of a page, beside those of every answer. Only a field can keep others from framing it, which they may
 * the embedded one alone: `url` is the page's.
 */
export function pageFields({ policy }: Pick<PageHead, "policy">, url: string): Record<string, string> {
  return {
    "content-security-policy": isEmbedUrl(url) ? policy : `${policy}; frame-ancestors 'none'`,
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}

/** Whether a URL is that of an embedded page. */
export function isEmbedUrl(url: string): boolean {
  return url.split("?")[0] === paths.embed;
}

/** The Content-Security-Policy of what people load. Nothing inline but a site's colours, nothing of others. */
export const policies = {
  /**
   * A page has it in its first elements, where the origin's signature covers it. `hosts` (host, or host:port) are those
   * whose pictures it shows, beside its own; `style` is the hash of a site's colours, or "". No markup is made of texts (Trusted Types); the one policy named makes
   * the address of the service worker.
   */
  page(hosts: readonly string[], style = ""): string {
    const pictures = ["'self'", ...hosts].join(" ");
    return `default-src 'none'; script-src 'self'; style-src 'self'${style}; img-src ${pictures}; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types trendvault`;
  },
  /**
   * /docs, which Swagger UI draws: its pictures are `data:` in its style sheet, and it sets innerHTML itself, so that
   * Trusted Types cannot be asked for.
   */
  docs: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'",
} as const;

/** The service worker's script, wherever it comes from: what it may load is what the pages of all visitors can. */
export const workerPolicy = "default-src 'none'; connect-src 'self'";

/**
 * The hosts of a comma-separated list; null when one of them is no host name or address with an optional port, or when they
 * are too long for a policy that the edge reads from the head of a page.
 */
export function readThumbHosts(text: string): string[] | null {
  const hosts = text.split(",").flatMap((part) => part.trim().toLowerCase() || []);
  if (hosts.join(" ").length > longestHosts) return null;
  return hosts.every((host) => /^[\w.-]+(:\d+)?$/.test(host)) ? hosts : null;
}

const longestHosts = 2000; // characters
