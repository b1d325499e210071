import { examples } from "@trendvault/contract/examples";
import type { Problem, TrendingItem, TrendingPage } from "@trendvault/contract/responses";

export const baseUrl = "https://trending.example.com";

/** A server that answers by path and query, and keeps what it was asked. */
export function fakeServer(answer: (path: string, request: Request) => Response | Promise<Response>) {
  const requests: Request[] = [];
  const fetch = async (request: Request) => {
    requests.push(request);
    request.signal.throwIfAborted();
    return answer(request.url.slice(baseUrl.length), request);
  };
  return { fetch, requests, paths: () => requests.map(({ url }) => url.slice(baseUrl.length)) };
}

export function problem(status: number, kind: string, extras: Partial<Problem> = {}): Response {
  const body = { type: `/problems/${kind}`, title: "…", status, detail: "…", ...extras };
  return Response.json(body, { status, headers: { "content-type": "application/problem+json" } });
}

const example = examples.trendingPage as TrendingPage;

/** A page of a list of `total` ranks: `count` of them after `offset`. Ids are those of the ranks. */
export function pageOf({
  generation = 1,
  offset = 0,
  count = 2,
  total = 6,
  idOf = (rank: number) => `video-${rank}`,
} = {}): TrendingPage {
  const items = Array.from({ length: count }, (_, index): TrendingItem => {
    const rank = offset + index + 1;
    return { ...(example.items[0] as TrendingItem), rank, id: idOf(rank) };
  });
  const after = offset + count;
  const next = after < total ? `/api/trending?region=DE&limit=${count}&cursor=${generation}-${after}` : null;
  return { ...example, generation, count, total, items, next };
}
