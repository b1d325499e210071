import type { Fetcher } from "@cloudflare/workers-types";

/** Sends many visitors to the edge from within workerd, where asking costs least, and reports what they saw. */
export type CrowdVisitor = { target: string; country?: string; headers?: Record<string, string> };
type Crowd = { visitors: CrowdVisitor[]; atOnce: number };
export type Seen = { status: number; region: string | null; cacheStatus: string; target: string };

// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request: Request, env: { EDGE: Fetcher }): Promise<Response> {
    const { visitors, atOnce } = (await request.json()) as Crowd;
    const seen: Seen[] = new Array(visitors.length);
    let next = 0;
    const walk = async () => {
      for (let i = next++; i < visitors.length; i = next++) {
        seen[i] = await visit(visitors[i] as CrowdVisitor, env.EDGE);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, walk));
    return Response.json(seen);
  },
};

async function visit({ target, country, headers = {} }: CrowdVisitor, edge: Fetcher): Promise<Seen> {
  const cf = country === undefined ? {} : { country };
  const response = await edge.fetch(`https://site.example${target}`, { headers, cf });
  const region = /^\{"region":"([A-Z]{2})"/.exec(await response.text())?.[1] ?? null;
  return { status: response.status, region, cacheStatus: response.headers.get("cache-status") ?? "", target };
}
