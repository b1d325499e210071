import { generationGone, unknownCategory } from "@trendvault/contract/list-refusals";
import {
  parseTrendingQuery,
  readCursor,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/trending-query";
import type { Generation } from "../database/generation.ts";
import type { ListReader } from "../database/list-reader.ts";
import type { SignToken } from "../signing/token-signer.ts";
import { jsonBody } from "./body.ts";
import { Refusal } from "./refusal.ts";
import type { Content, Resource } from "./resource.ts";
import { nextPageUrl, writeTrendingPage } from "./trending-page.ts";

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

const bytesPerRow = 1000; // an object with a dozen fields and their strings

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
  const isShared = category === undefined && cursor === undefined; // ListReader keeps those rows anyway
  return {
    weight: isShared ? 0 : list.rows.length * bytesPerRow,
    render(minute) {
      const token = sources.signToken({ region: query.region, count: list.rows.length, minute });
      const page = writeTrendingPage(query, list, token);
      return jsonBody(page, nextPageUrl(query, list));
    },
  };
}

function summarize(invalid: { name: string; detail: string }[]): string {
  return invalid.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
}

const pastTheEnd = new Refusal("not-found", "The list ends before this page.");
