import { listLengths } from "@trendvault/contract/lists";
import { explanationPath, paths, videoPath } from "@trendvault/contract/paths";
import type {
  About,
  Explanation,
  PublicKeys,
  RegionList,
  TrendingChartPage,
  TrendingPage,
  TrendingParameters,
  TrendingSnippetPage,
  Video,
} from "@trendvault/contract/responses";
import { type Client, connect, sameOriginPath } from "./connection.ts";
import { ProblemError, readJson, restartOf } from "./problem-error.ts";

export type {
  About,
  Explanation,
  ExportHead,
  ExportItem,
  Problem,
  PublicKeys,
  Region,
  RegionList,
  TrendingChartItem,
  TrendingChartPage,
  TrendingItem,
  TrendingPage,
  TrendingSnippet,
  TrendingSnippetPage,
  Video,
  Window,
} from "@trendvault/contract/responses";
export { type Answer, type Check, type Client, connect } from "./connection.ts";
export { isProblem, ProblemError, type ProblemType } from "./problem-error.ts";

export type RequestOptions = {
  /** What connect() gave. Default: the site of the page. */
  client?: Client;
  signal?: AbortSignal;
};

/** How much of each item is asked for; undefined is the whole item. */
export type Fields = TrendingParameters["fields"];

/** A region, a window, a category, … : the parameters of /api/trending. */
export type TrendingOptions<F extends Fields = Fields> = Omit<TrendingParameters, "fields"> & {
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
export function trending<F extends Fields = undefined>({
  client,
  signal,
  ...query
}: TrendingOptions<F> = {}): Promise<PageOf<F>> {
  const options = { query, ...(client && { client }), ...(signal && { signal }) };
  return answerOf(call<PageOf<F>>(paths.trending, "items", options));
}

/**
 * The page of an address that an answer gave: `next`, or the `restart` of a problem. It is of the same shape.
 *
 * @throws ProblemError for a problem, /problems/generation-gone among them; TypeError when the network failed,
 * the answer is no list, or the address is of another server
 */
export async function trendingAt<F extends Fields = undefined>(
  path: string,
  { client, signal }: RequestOptions = {},
): Promise<PageOf<F>> {
  const options = { ...(client && { client }), ...(signal && { signal }) };
  return answerOf(call<PageOf<F>>(sameOriginPath(path), "items", options));
}

export type AllOptions<F extends Fields = Fields> = TrendingOptions<F> & {
  /** How often it starts again because the list was deleted while it was read. Default: 3. */
  restarts?: number;
};

/**
 * All pages of a list. They are of one generation, unless that is deleted meanwhile (a page is read for longer than
 * about 25 minutes): then the newest generation's first page follows, and `generation` tells.
 *
 * @throws ProblemError for a problem; TypeError when the network failed
 */
export async function* allPages<F extends Fields = undefined>({
  restarts = 3,
  ...options
}: AllOptions<F> = {}): AsyncGenerator<PageOf<F>, void> {
  let page = await trending(options as TrendingOptions<F>);
  const followed = new Set<string>();
  for (let left = restarts; ; ) {
    yield page;
    if (page.next === null) return;
    // No list has more pages than ranks.
    if (followed.has(page.next) || followed.size >= listLengths.longest.all) {
      throw new Error("Cannot follow `next`: it leads in a circle");
    }
    followed.add(page.next);
    try {
      page = await trendingAt<F>(page.next, options);
    } catch (error) {
      if (restartOf(error) === null || left-- === 0) throw error;
      // Not at the address that the problem names: problems are not signed, and it could be that of another list.
      const { cursor: _, ...first } = options as TrendingOptions<F>;
      page = await trending(first as TrendingOptions<F>);
      followed.clear();
    }
  }
}

/**
 * All items of a list, the first rank first. Where it starts again (see allPages), what was given is not given again.
 *
 * @throws ProblemError for a problem; TypeError when the network failed
 */
export async function* allItems<F extends Fields = undefined>(
  options: AllOptions<F> = {},
): AsyncGenerator<PageOf<F>["items"][number], void> {
  const given = new Set<string>();
  for await (const { items } of allPages(options)) {
    for (const item of items) {
      if (given.has(item.id)) continue;
      given.add(item.id);
      yield item;
    }
  }
}

/** What a function below gives, and never throws: the answer, or why there is none. answerOf() throws it. */
export type Result<T> = {
  data?: T;
  /** The body of a problem, or what fetch() or a check threw. */
  error?: unknown;
  /** Undefined when there was none. */
  response?: Response;
};

/** The answer itself. @throws ProblemError for a problem; what fetch() or a check threw otherwise */
export async function answerOf<T>(result: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await result;
  if (response !== undefined && !response.ok) throw ProblemError.of(error, response);
  if (data === undefined) throw error;
  return data;
}

type ById = RequestOptions & { path: { id: string } };

/** As trending(). */
export function listTrending(
  options: RequestOptions & { query?: TrendingParameters } = {},
): Promise<Result<TrendingPage>> {
  return call(paths.trending, "items", options);
}

/** One video, where it trends and how its views grew. */
export function readVideo({ path, ...options }: ById): Promise<Result<Video>> {
  return call(videoPath(encodeURIComponent(path.id)), "trending", options);
}

/** Why a video is where it is in a list over all categories. */
export function explainRank({
  path,
  ...options
}: ById & { query?: Pick<TrendingParameters, "region" | "window"> }): Promise<Result<Explanation>> {
  return call(explanationPath(encodeURIComponent(path.id)), "sentences", options);
}

/** How the lists are made. */
export function readMaking(options: RequestOptions = {}): Promise<Result<About>> {
  return call(paths.about, "thumb_hosts", options);
}

/** The regions, how many videos each has and how fresh they are. */
export function listRegions(options: RequestOptions = {}): Promise<Result<RegionList>> {
  return call(paths.regions, "regions", options);
}

/** The public keys that verify Signature. */
export function listPublicKeys(options: RequestOptions = {}): Promise<Result<PublicKeys>> {
  return call(paths.publicKeys, "keys", options);
}

/** Reports which ranks of a list were seen and opened; reportImpressions() of @trendvault/client/impressions does so for a page. */
export function countViews({
  body,
  ...options
}: RequestOptions & { body: { token: string; seen: number; opened: number[] } }): Promise<Result<null>> {
  return call(paths.views, null, options, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** `field`: the array that the answer has; null for an answer without a body. */
async function call<T>(
  path: string,
  field: string | null,
  { client = ownSite(), signal, query = {} }: RequestOptions & { query?: Query },
  init: RequestInit = {},
): Promise<Result<T>> {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  const search = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  let response: Response | undefined;
  try {
    const request = new Request(client.baseUrl + path + search, { ...init, ...(signal && { signal }) });
    response = await client.send(request);
    if (response.ok && field === null) return { data: null as T, response };
    return { data: await readJson<T>(response, { url: request.url, field: field ?? "" }), response };
  } catch (error) {
    return { error: error instanceof ProblemError ? error.problem : error, ...(response && { response }) };
  }
}

let ownClient: Client | undefined;

function ownSite(): Client {
  ownClient ??= connect();
  return ownClient;
}
