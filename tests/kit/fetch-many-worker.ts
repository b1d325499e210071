import type { Fetcher } from "@cloudflare/workers-types";

/** A request of one client, and what it got. */
export type ClientRequest = { target: string; country?: string; headers?: Record<string, string> };
export type ClientResult = { status: number; region: string | null; cacheStatus: string; target: string };

/** Sends requests to the edge from within workerd, where a request costs least. They start in order. */
// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request: Request, env: { EDGE: Fetcher }): Promise<Response> {
    const { requests, concurrency } = (await request.json()) as {
      requests: ClientRequest[];
      concurrency: number;
    };
    const results: ClientResult[] = new Array(requests.length);
    let next = 0;
    const work = async () => {
      for (let i = next++; i < requests.length; i = next++) {
        results[i] = await send(requests[i] as ClientRequest, env.EDGE);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return Response.json(results);
  },
};

async function send({ target, country, headers = {} }: ClientRequest, edge: Fetcher): Promise<ClientResult> {
  const cf = country === undefined ? {} : { country };
  const response = await edge.fetch(`https://site.example${target}`, { headers, cf });
  const region = /^\{"region":"([A-Z]{2})"/.exec(await response.text())?.[1] ?? null;
  return { status: response.status, region, cacheStatus: response.headers.get("cache-status") ?? "", target };
}
