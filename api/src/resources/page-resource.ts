import { contentPolicy, type PageQuery, pageFields, pageUrl } from "@trendvault/contract/page";
import { parsePageQuery, type TrendingQuery, trendingUrl } from "@trendvault/contract/queries";
import type { TokenList } from "@trendvault/contract/token";
import type { Generation } from "../database/generation.ts";
import { sourcesOf } from "./about-resource.ts";
import type { Body } from "./body.ts";
import { forPeople } from "./loaded-later.ts";
import type { PageAssets } from "./page-assets.ts";
import { Refusal } from "./refusal.ts";
import type { Content, Resource } from "./resource.ts";
import { insertToken, type WrittenPage } from "./trending-page.ts";
import { type PageSources, summarize, trendingResource } from "./trending-resource.ts";

/** What pages of people are made from. `thumbHosts` are those whose pictures they show. */
export type HtmlSources = PageSources & { assets: PageAssets; thumbHosts: readonly string[] };

/** The HTML page that a query string (without its "?") selects, or why it selects none. */
export function pageResource(search: string, sources: HtmlSources): Resource | Refusal {
  const { query, invalid } = parsePageQuery(`?${search}`);
  if (query === null) return new Refusal("invalid-parameter", summarize(invalid), { invalid });
  return { url: pageUrl(query), route: "page", read: (generation) => readPage(query, generation, sources) };
}

/** A page is its list, and what it says of the list is what /api/trending says. */
function readPage(
  query: TrendingQuery & PageQuery,
  generation: Generation,
  sources: HtmlSources,
): Content | Refusal {
  const list = trendingResource(searchOfList(query), sources);
  const content = list instanceof Refusal ? list : list.read(generation);
  if (content instanceof Refusal) return restartAtPage(content, query);
  const categories = namedCategories(sources.lists.choicesOf(generation).categories, query.category);
  const ranking = generation.regions.get(query.region)?.id ?? generation.id;
  const made = sourcesOf(sources.lists.readMaking(generation, ranking));
  const sendsViews = made.some(({ kind }) => kind === "edge"); // whose looks the region's writer pulls
  return new PageContent(content, { query, categories, sendsViews, sources });
}

/** Those that a page links to, in order: all, unless there are very many. A catalogue decides how many there are. */
function namedCategories(all: ReadonlySet<string>, shown: string | undefined): string[] {
  const named = [...all].sort().slice(0, mostNamedCategories);
  return shown === undefined || named.includes(shown) ? named : [shown, ...named];
}

const mostNamedCategories = 100;

function searchOfList({ lang: _, ...query }: TrendingQuery & PageQuery): string {
  return trendingUrl({ ...query, fields: "chart" }).replace(/^[^?]*\?/, "");
}

function restartAtPage(refusal: Refusal, { cursor: _, ...query }: PageQuery): Refusal {
  const { kind, detail, extras } = refusal;
  return extras.restart === undefined
    ? refusal
    : new Refusal(kind, detail, { ...extras, restart: pageUrl(query) });
}

type PageOptions = {
  query: PageQuery;
  categories: readonly string[];
  sendsViews: boolean;
  sources: HtmlSources;
};

/** Keeps the list until the first rendering, and then what was written of it. */
class PageContent implements Content {
  readonly list: TokenList | null;
  readonly #fields: Record<string, string>;
  #page: WrittenPage | (() => WrittenPage);

  constructor(content: Content, { sources: { assets, thumbHosts }, ...page }: PageOptions) {
    this.list = content.list;
    const policy = contentPolicy(thumbHosts);
    this.#fields = pageFields({ policy });
    this.#page = () => {
      const json = new TextDecoder().decode(content.render("").bytes);
      return forPeople().writeHtmlPage({ ...page, json, assets: assets.paths, thumbHosts, policy });
    };
  }

  render(token: string): Body {
    const bytes = insertToken(this.#written, token);
    return { bytes, contentType: "text/html; charset=utf-8", next: null, fields: this.#fields };
  }

  get weight(): number {
    return this.#written.head.length + this.#written.tail.length;
  }

  get #written(): WrittenPage {
    if (typeof this.#page === "function") this.#page = this.#page();
    return this.#page;
  }
}
