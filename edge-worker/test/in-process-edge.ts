import type { KVNamespace } from "@cloudflare/workers-types";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner } from "@trendvault/contract/request-signatures";
import { type Exchange, edgeKeys, keySet } from "@trendvault/kit/keys";
import type { Bucket } from "../src/bundle-store.ts";
import { createBundleReaders } from "../src/bundles.ts";
import { KvFallback, TieredCache } from "../src/cache.ts";
import { Backoff } from "../src/document-source.ts";
import { handleRequest } from "../src/handle-request.ts";
import type { Logger } from "../src/log.ts";
import { OriginSource } from "../src/origin.ts";
import { ReadThroughCache } from "../src/read-through.ts";
import type { StoredResponse } from "../src/signed-answer.ts";
import { storeName } from "./bundles.ts";

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
  const edge = new InProcessEdge(situation, () => situation.now);
  return withFetch(situation.answer, async () => [await edge.ask(target), await edge.ask(target)]);
}

/** What isolates of a data centre share. */
export class DataCentre {
  readonly responses = new Map<string, StoredResponse>();
  readonly #bytes = new Map<string, Uint8Array<ArrayBuffer>>();

  readonly cache = {
    match: async (target: string) => this.responses.get(target) ?? null,
    put: async (response: StoredResponse) => void this.responses.set(response.target, response),
  };
  readonly bytes = {
    match: async (name: string) => this.#bytes.get(name) ?? null,
    put: async (name: string, bytes: Uint8Array<ArrayBuffer>) => void this.#bytes.set(name, bytes),
    delete: async (name: string) => void this.#bytes.delete(name),
  };
}

/** `bundles`: the bucket that is read, and what with; none without it. */
type EdgeOptions = Pick<Situation, "stored" | "fallback"> & {
  bundles?: {
    bucket: Bucket;
    keySet: string;
    prefixes?: string[];
    signingSeed?: Uint8Array;
    timeoutSeconds?: number;
  };
  hasOrigin?: boolean;
  dataCentre?: DataCentre;
  log?: Logger;
};

/** The edge without workerd, with caches of its own unless it shares a data centre's. */
export class InProcessEdge {
  readonly #cache: ReadThroughCache;
  readonly #pending: Promise<unknown>[] = [];

  constructor({ stored, fallback, bundles, ...others }: EdgeOptions, clock: () => number) {
    const { dataCentre = new DataCentre(), log = () => {}, hasOrigin = true } = others;
    for (const response of stored) dataCentre.responses.set(response.target, response);
    const keys = JSON.parse(bundles?.keySet ?? keySet);
    const signer = new EdgeSigner(parseKeyRing(edgeKeys));
    const store = { get: async () => fallback, put: async () => {} } as unknown as KVNamespace;
    const timeoutSeconds = bundles?.timeoutSeconds ?? 60;
    const common = { keys, timeoutSeconds, backoff: new Backoff(5, () => 0.5), clock, log };
    const origin = hasOrigin
      ? new OriginSource({ ...common, url: new URL("http://origin.example"), signer })
      : null;
    const base = new URL("https://trendvault.invalid");
    const stores = (bundles?.prefixes ?? [""]).map((prefix) => ({ prefix, name: storeName(prefix) }));
    const options = { ...common, signingSeed: null, stores, base, isOnly: !hasOrigin };
    const readers = bundles ? createBundleReaders({ ...options, ...bundles }, () => dataCentre.bytes) : null;
    this.#cache = new ReadThroughCache({
      ...common,
      cache: new TieredCache(dataCentre.cache, log),
      sources: [origin, readers?.source ?? null].filter((source) => source !== null),
      kvFallback: new KvFallback(store, { intervalSeconds: 600, keys, clock }),
    });
  }

  /** What a client sees; what the edge does in the background is done, too. `isAllowed`: by the rate limiter. */
  async ask(target: string, isAllowed?: () => Promise<boolean>): Promise<Seen> {
    const response = await this.respond(target, isAllowed);
    const seen = JSON.stringify([response.status, [...response.headers], await response.text()]);
    while (this.#pending.length > 0) await this.#pending.pop();
    return seen;
  }

  /** The response, as soon as there is one. */
  respond(target: string, isAllowed: () => Promise<boolean> = async () => true): Promise<Response> {
    const waitUntil = (work: Promise<unknown>) => void this.#pending.push(work);
    const context = { waitUntil, allowOriginFetch: isAllowed };
    const request = new Request(`https://site.example${target}`);
    return handleRequest(request, new URL(request.url), { context, cache: this.#cache, views: null });
  }
}

/** Does the work with an origin that answers so. */
export async function withFetch<T>(answer: Situation["answer"], work: () => Promise<T>): Promise<T> {
  const original = globalThis.fetch;
  const answering = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const { status, headers, body } = await answer(pathname + search); // a test may let it hang
    return new Response([204, 304].includes(status) ? null : body, { status, headers });
  };
  globalThis.fetch = answering as typeof fetch;
  try {
    return await work();
  } finally {
    globalThis.fetch = original;
  }
}
