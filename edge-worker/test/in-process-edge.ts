import type { KVNamespace } from "@cloudflare/workers-types";
import { parseKeyRing } from "@trendvault/contract/key-ring";
import { KvFallback } from "../src/cache/kv-fallback.ts";
import { Revalidator } from "../src/cache/revalidator.ts";
import { TieredCache } from "../src/cache/tiered-cache.ts";
import { handleRequest } from "../src/http/handle-request.ts";
import type { StoredResponse } from "../src/origin/stored-response.ts";
import type { Exchange } from "./exchanges.ts";
import { edgeKeys, keySet } from "./keys.ts";

/** Everything that a client sees of a response, as one text. */
export type Seen = string;

export type Situation = {
  /** The origin's answer to a target. */
  answer: (target: string) => Exchange;
  /** What the data centre has stored, and what KV has. */
  stored: StoredResponse[];
  fallback: StoredResponse | null;
  /** Unix seconds; the clock stands still. */
  now: number;
};

/** Asks a new edge twice, the second time after what it does in the background. Gives what the client sees. */
export async function askTwice(target: string, situation: Situation): Promise<Seen[]> {
  const { services, context, pending } = createEdge(situation);
  const ask = async () => {
    const request = new Request(`https://site.example${target}`);
    const response = await handleRequest(request, context, services);
    const seen = [response.status, [...response.headers], await response.text()];
    while (pending.length > 0) await pending.pop();
    return JSON.stringify(seen);
  };
  return withFetch(situation.answer, async () => [await ask(), await ask()]);
}

function createEdge({ stored, fallback, now }: Situation) {
  const pending: Promise<unknown>[] = [];
  const clock = () => now;
  const log = () => {};
  const byTarget = new Map(stored.map((response) => [response.target, response]));
  const dataCentre = {
    match: async (target: string) => byTarget.get(target) ?? null,
    put: async (response: StoredResponse) => void byTarget.set(response.target, response),
  };
  const keys = JSON.parse(keySet);
  const cache = new TieredCache(dataCentre, log);
  const store = { get: async () => fallback, put: async () => {} } as unknown as KVNamespace;
  const revalidator = new Revalidator({
    cache,
    kvFallback: new KvFallback(store, { intervalSeconds: 600, keys }),
    origin: { url: new URL("http://origin.example"), edgeKeys: parseKeyRing(edgeKeys), timeoutSeconds: 60 },
    keys,
    backoffSeconds: 5,
    clock,
    log,
  });
  const waitUntil = (work: Promise<unknown>) => void pending.push(work);
  const context = { waitUntil, allowOriginFetch: async () => true };
  return { services: { cache, revalidator, clock }, context, pending };
}

async function withFetch<T>(answer: Situation["answer"], work: () => Promise<T>): Promise<T> {
  const original = globalThis.fetch;
  const answering = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, body } = answer(pathname + search);
    return new Response([204, 304].includes(status) ? null : body, { status, headers });
  };
  globalThis.fetch = answering as typeof fetch;
  try {
    return await work();
  } finally {
    globalThis.fetch = original;
  }
}
