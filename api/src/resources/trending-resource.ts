import {
  generationGone,
  missing,
  nextPageUrl,
  pageInToken,
  parseTrendingQuery,
  readCursor,
  type TrendingQuery,
  trendingUrl,
  unknownCategory,
  unknownLanguage,
} from "@trendvault/contract/queries";
import { type TokenList, tokenListName } from "@trendvault/contract/token";
import type { Generation, RegionGeneration } from "../database/generation.ts";
import type { ListPage } from "../database/list-page.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { ListedChoices } from "../database/listed-choices.ts";
import { type Body, jsonContentType } from "./body.ts";
import { Refusal, unpublishedRegion } from "./refusal.ts";
import type { Content, Resource } from "./resource.ts";
import { insertToken, type WrittenPage, writeTrendingPage } from "./trending-page.ts";
import type { VideoLinks } from "./video-links.ts";

/** What pages are made from. */
export type PageSources = { lists: ListReader; linkOf: VideoLinks };

/** The page that a query string (without its "?") selects, or why it selects none. */
export function trendingResource(search: string, sources: PageSources): Resource | Refusal {
  const { query, invalid } = parseTrendingQuery(`?${search}`); // a second "?" is part of a name
  if (query === null) return new Refusal("invalid-parameter", summarize(invalid), { invalid });
  return {
    url: trendingUrl(query),
    route: "trending",
    read: (generation) => readPage(query, generation, sources),
  };
}

function readPage(
  query: TrendingQuery,
  generation: Generation,
  { lists, linkOf }: PageSources,
): Content | Refusal {
  const { cursor } = query;
  const newest = generation.regions.get(query.region);
  if (newest === undefined) return unpublishedRegion;
  const start = cursor === undefined ? null : readCursor(cursor);
  const isOfAnother = start !== null && start.generation !== newest.id; // it may have had the list
  const unlisted = isOfAnother ? null : refuseUnlisted(query, () => lists.choicesOf(generation));
  if (unlisted !== null) return unlisted;
  const list = start === null ? lists.readFirstPage(query, generation) : lists.readListPage(query, start);
  if (list === null) return refuseCursor(query, newest);
  if (start !== null && start.afterRank >= list.total) return pastTheEnd;
  return new PageContent(query, list, linkOf);
}

function refuseUnlisted(
  { region, category, language }: TrendingQuery,
  choices: () => ListedChoices,
): Refusal | null {
  if (category !== undefined) {
    const { categories } = choices();
    return categories.has(category) ? null : Refusal.of(unknownCategory(categories));
  }
  if (language === undefined) return null;
  const languages = choices().languagesIn(region);
  return languages.has(language) ? null : Refusal.of(unknownLanguage(languages));
}

/** Keeps the rows until the first rendering, and then what was written of them. */
class PageContent implements Content {
  readonly list: TokenList;
  readonly #next: string | null;
  #page: WrittenPage | (() => WrittenPage);

  constructor(query: TrendingQuery, list: ListPage, linkOf: VideoLinks) {
    const extent = { generation: list.generation.id, total: list.total };
    this.list = pageInToken(query, extent, tokenListName(query, sha256));
    this.#next = nextPageUrl(query, extent);
    this.#page = () => writeTrendingPage(query, list, linkOf);
  }

  render(token: string): Body {
    return { bytes: insertToken(this.#written, token), contentType: jsonContentType, next: this.#next };
  }

  get weight(): number {
    return this.#written.head.length + this.#written.tail.length;
  }

  get #written(): WrittenPage {
    if (typeof this.#page === "function") this.#page = this.#page();
    return this.#page;
  }
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}

/** The parameters that were refused, in a sentence. */
export function summarize(invalid: { name: string; detail: string }[]): string {
  return invalid.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
}

// Where several writers share the regions, the numbers of one have gaps: no page ever had such a cursor.
function refuseCursor(query: TrendingQuery, { id, oldestId }: RegionGeneration): Refusal {
  const { generation } = readCursor(query.cursor ?? "");
  return generation > oldestId && generation < id ? neverPublished : Refusal.of(generationGone(query));
}

const neverPublished = new Refusal("not-found", "This market never had a generation with this number.");
const pastTheEnd = new Refusal("not-found", missing.page);
