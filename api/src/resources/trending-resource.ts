import { generationGone, unknownCategory } from "@trendvault/contract/list-refusals";
import {
  parseTrendingQuery,
  readCursor,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/trending-query";
import type { Generation } from "../database/generation.ts";
import type { ListPage } from "../database/list-page.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { SignToken } from "../signing/token-signer.ts";
import { type Body, jsonContentType } from "./body.ts";
import { Refusal } from "./refusal.ts";
import type { Content, Resource } from "./resource.ts";
import { insertToken, nextPageUrl, type WrittenPage, writeTrendingPage } from "./trending-page.ts";

export type TrendingSources = { lists: ListReader; signToken: SignToken };

/** The page that a query string (without its "?") selects, or why it selects none. */
export function trendingResource(search: string, sources: TrendingSources): Resource | Refusal {
  const { query, invalid } = parseTrendingQuery(`?${search}`); // a second "?" is part of a name
  if (query === null) return new Refusal("invalid-parameter", summarize(invalid), { invalid });
  return {
    url: trendingUrl(query),
    route: "trending",
    read: (generation) => readPage(query, generation, sources),
  };
}

function readPage(query: TrendingQuery, generation: Generation, sources: TrendingSources): Content | Refusal {
  const { category, cursor } = query;
  const start = cursor === undefined ? null : readCursor(cursor);
  const isOfAnother = start !== null && start.generation !== generation.id; // it may have had the category
  if (category !== undefined && !isOfAnother) {
    const categories = sources.lists.categoriesOf(generation);
    if (!categories.has(category)) return Refusal.of(unknownCategory(categories));
  }
  const list =
    start === null
      ? sources.lists.readFirstPage(query, generation)
      : sources.lists.readListPage(query, start);
  if (list === null) return Refusal.of(generationGone(query));
  if (start !== null && start.afterRank >= list.total) return pastTheEnd;
  return new PageContent(query, list, sources.signToken);
}

/** Keeps the rows until the first rendering, and then what was written of them. */
class PageContent implements Content {
  readonly #region: string;
  readonly #count: number;
  readonly #next: string | null;
  readonly #signToken: SignToken;
  #page: WrittenPage | (() => WrittenPage);

  constructor(query: TrendingQuery, list: ListPage, signToken: SignToken) {
    this.#region = query.region;
    this.#count = list.rows.length;
    this.#next = nextPageUrl(query, list);
    this.#signToken = signToken;
    this.#page = () => writeTrendingPage(query, list);
  }

  render(minute: number): Body {
    const token = this.#signToken({ region: this.#region, count: this.#count, minute });
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

function summarize(invalid: { name: string; detail: string }[]): string {
  return invalid.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
}

const pastTheEnd = new Refusal("not-found", "The list ends before this page.");
