import type { Client } from "../generated/client/index.ts";
import { listTrending } from "../generated/sdk.gen.ts";
import type {
  ListTrendingData,
  ListTrendingErrors,
  ListTrendingResponses,
  TrendingChartPage,
  TrendingPage,
  TrendingSnippetPage,
} from "../generated/types.gen.ts";
import { connect } from "./connect.ts";
import { answerOf } from "./problem-error.ts";
import { ownPath } from "./requests/own-path.ts";

export type RequestOptions = {
  /** What connect() gave. Default: the site of the page. */
  client?: Client;
  signal?: AbortSignal;
};

type Query = NonNullable<ListTrendingData["query"]>;

/** How much of each item is asked for; undefined is the whole item. */
export type Fields = Query["fields"];

/** A region, a window, a category, … : the parameters of /api/trending. */
export type TrendingOptions<F extends Fields = Fields> = Omit<Query, "fields"> & {
  fields?: F;
} & RequestOptions;

/** The page that `fields` asks for. */
export type PageOf<F extends Fields> = F extends "chart"
  ? TrendingChartPage
  : F extends "snippet"
    ? TrendingSnippetPage
    : TrendingPage;

/**
 * One page of the videos that trend in a region: the first, unless `cursor` says another.
 *
 * @throws ProblemError for a problem (a bad parameter, no such category); TypeError when the network failed
 */
export function trending<F extends Fields = undefined>(options: TrendingOptions<F> = {}): Promise<PageOf<F>> {
  const { client = ownSite(), signal, ...query } = options;
  const answer = listTrending({ client, query: query as Query, ...(signal && { signal }) });
  return answerOf(answer) as Promise<PageOf<F>>;
}

/**
 * The page of an address that an answer gave: `next`, or the `restart` of a problem. It is of the same shape.
 *
 * @throws ProblemError for a problem, /problems/generation-gone among them; TypeError when the network failed
 * or the address is of another server
 */
export async function trendingAt<F extends Fields = undefined>(
  path: string,
  { client = ownSite(), signal }: RequestOptions = {},
): Promise<PageOf<F>> {
  const request = { url: ownPath(path), ...(signal && { signal }) };
  const answer = client.get<ListTrendingResponses, ListTrendingErrors>(request);
  return answerOf(answer) as Promise<PageOf<F>>;
}

let ownClient: Client | undefined;

function ownSite(): Client {
  ownClient ??= connect();
  return ownClient;
}
