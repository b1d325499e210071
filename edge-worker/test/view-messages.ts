import { createHmac, randomBytes } from "node:crypto";
import type { viewSchemas } from "@trendvault/contract/openapi";
import type { Edge } from "@trendvault/kit/edge";
import { viewsKeys } from "@trendvault/kit/keys";

type ViewMinutes = ReturnType<typeof viewSchemas.ViewMinutes.parse>;

/** The settings that switch counting on, with a wait that tests have time for. */
export const counting = { VIEWS_KEYS: viewsKeys, VIEWS_BATCH_SECONDS: "0.02" };

/** Sends a message as navigator.sendBeacon does. */
export function send(
  edge: Edge,
  message: object | string | Uint8Array,
  headers: Record<string, string> = {},
) {
  const isBody = typeof message === "string" || message instanceof Uint8Array;
  const body = isBody ? message : JSON.stringify(message);
  return edge.fetch("/api/views", {
    method: "POST",
    headers: { "content-type": "text/plain;charset=UTF-8", ...headers },
    body,
  });
}

/** The token of a page, and the ids of its ranks. */
export async function readList(
  edge: Edge,
  target: string,
): Promise<{ token: string; ids: Map<number, string> }> {
  const response = await edge.fetch(target);
  if (response.status !== 200) throw new Error(`${target} is ${response.status}: ${await response.text()}`);
  const { token, items } = (await response.json()) as {
    token: string;
    items: { id: string; rank: number }[];
  };
  return { token, ids: new Map(items.map(({ id, rank }) => [rank, id])) };
}

/** The fields that sign a pull at a time, in Unix seconds. */
export function signPullAt(created: number, target: string) {
  const { pathname: path, search: query } = new URL(target, "http://a");
  const [keyid = "", key = ""] = viewsKeys.split(":");
  const nonce = randomBytes(16).toString("base64url");
  const parameters = `("@method" "@path" "@query");created=${created};nonce="${nonce}";keyid="${keyid}";alg="hmac-sha256"`;
  const base = `"@method": GET\n"@path": ${path}\n"@query": ${query || "?"}\n"@signature-params": ${parameters}`;
  const mac = createHmac("sha256", Buffer.from(key, "base64url")).update(base).digest("base64");
  return { "signature-input": `pull=${parameters}`, signature: `pull=:${mac}:` };
}

export function pull(edge: Edge, target: string) {
  return edge.fetch(target, { headers: { ...signPullAt(Math.floor(Date.now() / 1000), target) } });
}

/** Everything of a shard that is closed, page by page. */
export async function pullAll(edge: Edge, shard: string, limit = 1000): Promise<ViewMinutes[]> {
  const pages: ViewMinutes[] = [];
  for (let after = ""; ; ) {
    const response = await pull(edge, `/api/views/minutes?shard=${shard}${after}&limit=${limit}`);
    const page = (await response.json()) as ViewMinutes;
    pages.push(page);
    if (page.until >= page.last_closed) return pages;
    after = `&after=${page.until}`;
  }
}

/** What a shard has counted, by rank: rank, video id, impressions and clicks, over all minutes and lists. */
export async function countedIn(edge: Edge, shard: string): Promise<[number, string, number, number][]> {
  const rows = await edge.query<{ ranks: string }>(shard, "SELECT ranks FROM looks");
  const sums = new Map<number, [number, string, number, number]>();
  for (const [rank, id, impressions, clicks] of rows.flatMap(({ ranks }) => JSON.parse(ranks))) {
    const [, , knownImpressions, knownClicks] = sums.get(rank) ?? [rank, id, 0, 0];
    sums.set(rank, [rank, id, knownImpressions + impressions, knownClicks + clicks]);
  }
  return [...sums.values()].sort(([left], [right]) => left - right);
}
