import { feedUrl } from "@trendvault/contract/page";
import { type FeedAddress, type FeedQuery, parseFeedQuery, trendingUrl } from "@trendvault/contract/queries";
import type { TrendingPage } from "@trendvault/contract/responses";
import type { Generation } from "../database/generation.ts";
import { forPeople } from "./loaded-later.ts";
import { Refusal } from "./refusal.ts";
import { type Content, fixedContent, type Resource } from "./resource.ts";
import { type PageSources, summarize, trendingResource } from "./trending-resource.ts";

/** The feed of a list that a query string (without its "?") selects, or why it selects none. */
export function feedResource(address: FeedAddress, search: string, sources: PageSources): Resource | Refusal {
  const { query, invalid } = parseFeedQuery(address, `?${search}`);
  if (query === null) return new Refusal("invalid-parameter", summarize(invalid), { invalid });
  return { url: feedUrl(query), route: "feed", read: (generation) => readFeed(query, generation, sources) };
}

// A feed says what /api/trending says.
function readFeed(query: FeedQuery, generation: Generation, sources: PageSources): Content | Refusal {
  const [, search = ""] = trendingUrl(query).split("?");
  const list = trendingResource(search, sources);
  const content = list instanceof Refusal ? list : list.read(generation);
  if (content instanceof Refusal) return content;
  const page = JSON.parse(new TextDecoder().decode(content.render("").bytes)) as TrendingPage;
  return fixedContent(forPeople().writeFeed(query, page));
}
