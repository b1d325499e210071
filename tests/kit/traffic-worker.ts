import type { ExecutionContext, ExportedHandler } from "@cloudflare/workers-types";
// @ts-expect-error: what `wrangler deploy` uploads, found through an alias that edge.ts sets
import deployed from "the-deployed-bundle";

/**
 * Clients that request the list of their country's region. `share`: of all requests. With a token they send messages
 * about its list instead, of a page of 24 ranks.
 */
export type Traffic = {
  requests: number;
  concurrency: number;
  token?: string;
  clients: { country: string; region: string; share: number }[];
  windows: { window: string; share: number }[];
  /** How long the lists are; without it, as the edge likes. */
  limits?: { limit: number; share: number }[];
};

/** `wrong`: responses other than 200 with the client's own region. `byCacheStatus`: how many had which Cache-Status. */
export type TrafficResult = {
  wrong: number;
  byCacheStatus: Record<string, number>;
  /** With several limits, how often the bucket was read since the isolate was started: pointers, and parts of bundles. */
  bucketReads?: { pointers: number; ranges: number };
};

const bucketReads = { pointers: 0, ranges: 0 };

/** The deployed Worker and its clients in one isolate: the cheapest way to a day's traffic, or to measure a hit. */
// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request: Request, env: unknown, context: ExecutionContext): Promise<Response> {
    const traffic = (await request.json()) as Traffic;
    const result: TrafficResult = { wrong: 0, byCacheStatus: {} };
    if (traffic.limits !== undefined) result.bucketReads = bucketReads;
    const runtime = { env: environment(env, traffic), context };
    for (let sent = 0; sent < traffic.requests; sent += traffic.concurrency) {
      const batch = Math.min(traffic.concurrency, traffic.requests - sent);
      const one = traffic.token === undefined ? send : sendMessage;
      await Promise.all(Array.from({ length: batch }, () => one(traffic, result, runtime)));
      await new Promise((resume) => setTimeout(resume)); // hits never wait: let revalidations and the clock go on
    }
    return Response.json(result);
  },
};

type Get = (key: string, options?: { range?: object }) => Promise<unknown>;

/** Reads of the bucket are counted; clients with several limits are many visitors. The Worker keeps the first that it gets. */
function environment(env: unknown, { limits }: Traffic): unknown {
  const { BUNDLES } = env as { BUNDLES: { get: Get } };
  const unlimited = { MISS_RATE_LIMITER: { limit: async () => ({ success: true }) } };
  const get: Get = (key, options) => {
    bucketReads[options?.range === undefined ? "pointers" : "ranges"]++;
    return BUNDLES.get(key, options);
  };
  return { ...(env as object), BUNDLES: { get }, ...(limits === undefined ? {} : unlimited) };
}

type Runtime = { env: unknown; context: ExecutionContext };

async function send(
  { clients, windows, limits }: Traffic,
  result: TrafficResult,
  { env, context }: Runtime,
): Promise<void> {
  const { country, region } = draw(clients);
  const { window } = draw(windows);
  const limit = limits === undefined ? "" : `&limit=${draw(limits).limit}`;
  const url = `https://site.example/api/trending?window=${window}${limit}`;
  const request = new Request(url, { cf: { country } } as object);
  const worker = deployed as ExportedHandler;
  const response: Response = (await worker.fetch?.(request as never, env, context)) as never;
  const body = await response.text();
  if (response.status !== 200 || !body.startsWith(`{"region":"${region}"`)) result.wrong++;
  const cacheStatus = response.headers.get("cache-status") ?? `status ${response.status}`;
  const kind = cacheStatus.replace(/; ttl=-?\d+/, "");
  result.byCacheStatus[kind] = (result.byCacheStatus[kind] ?? 0) + 1;
}

async function sendMessage(
  { token }: Traffic,
  result: TrafficResult,
  { env, context }: Runtime,
): Promise<void> {
  const seen = 1 + Math.floor(Math.random() * 24);
  const body = JSON.stringify({ token, seen, opened: [seen] });
  const headers = { "content-type": "text/plain" };
  const request = new Request("https://site.example/api/views", { method: "POST", headers, body });
  const limiter = { limit: async () => ({ success: true }) };
  const unlimited = {
    ...(env as object),
    VIEWS_RATE_LIMITER: limiter,
    VIEWS_TOKEN_RATE_LIMITER: limiter,
    VIEWS_NETWORK_RATE_LIMITER: limiter,
  };
  const worker = deployed as ExportedHandler;
  const response: Response = (await worker.fetch?.(request as never, unlimited, context)) as never;
  if (response.status !== 204) result.wrong++;
}

function draw<T extends { share: number }>(choices: T[]): T {
  let at = Math.random();
  for (const choice of choices) {
    at -= choice.share;
    if (at < 0) return choice;
  }
  return choices[0] as T; // the shares' sum is a rounding error below 1
}
