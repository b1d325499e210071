import { paths } from "@trendvault/contract/paths";
import { EdgeSigner } from "@trendvault/contract/request-signatures";
import { createBundleReaders } from "./bundles.ts";
import { DataCentreCache, KvFallback, TieredCache } from "./cache.ts";
import { ListBlocks, TokenVerifier, type ViewServices } from "./count-views.ts";
import { Backoff } from "./document-source.ts";
import { forPerson, handleRequest, networkOf, refuse } from "./handle-request.ts";
import type { Logger } from "./log.ts";
import { OriginSource } from "./origin.ts";
import { ReadThroughCache } from "./read-through.ts";
import { type MessageContext, respondToViews } from "./respond-to-views.ts";
import { readSettings } from "./settings.ts";
import { IncrementBatches, ServedLists, ViewShards } from "./view-shards.ts";

export { ViewCounter } from "./view-counter.ts";

let services: Services | undefined;

// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request, env, context) {
    const response = await answer(request, env, context);
    if (response.status < 400) return response;
    return forPerson(request, response, { assets: env.ASSETS, log: logToConsole });
  },
} satisfies ExportedHandler<Env>;

async function answer(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
  try {
    services ??= createServices(env, logToConsole);
    return await route(request, createRequestContext(request, env, context), services);
  } catch (error) {
    logToConsole({
      level: "error",
      event: "request_failed",
      message: "The edge failed to answer a request.",
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return refuse("internal", "The request failed at the edge.");
  }
}

/** Writes a line in the shape that all parts share: time, level, event, message, facts. */
function logToConsole({ level, event, message, ...facts }: Parameters<Logger>[0]): void {
  console.error(JSON.stringify({ time: new Date().toISOString(), level, event, message, ...facts }));
}

function route(request: Request, context: MessageContext, { cache, views }: Services): Promise<Response> {
  const url = new URL(request.url);
  return views !== null && url.pathname.startsWith(paths.views)
    ? respondToViews(request, url, { context, views })
    : handleRequest(request, url, { context, cache, views });
}

/**
 * What a request brings besides its URL. The visitor's address is read on a miss and for a message only, and given only
 * to Cloudflare's rate limiters, which forget it within a minute, and to the object that counts the message, which
 * hashes it.
 */
function createRequestContext(request: Request, env: Env, context: ExecutionContext): MessageContext {
  const network = (groups: 3 | 4) => networkOf(request.headers.get("cf-connecting-ip") ?? "", groups);
  const isWithin = async (limiter: RateLimit, key = network(4)) => (await limiter.limit({ key })).success;
  return {
    waitUntil: (work) => context.waitUntil(work),
    get network() {
      return network(3);
    },
    allowOriginFetch: () => isWithin(env.MISS_RATE_LIMITER),
    allowMessage: async () =>
      (await isWithin(env.VIEWS_RATE_LIMITER)) && isWithin(env.VIEWS_NETWORK_RATE_LIMITER, network(3)),
    allowToken: (token) => isWithin(env.VIEWS_TOKEN_RATE_LIMITER, `${network(4)} ${token.slice(-tokenTail)}`),
  };
}

const tokenTail = 32; // characters of its signature, which tell tokens apart
const flushSeconds = 20; // of served lists; a request may work for 30 s after its response
const clock = () => Date.now() / 1000;
/** The base of the addresses of cached responses where there is no origin: a reserved name (RFC 2606). */
const noOrigin = new URL("https://trendvault.invalid");

/** `views` is null where nothing is counted. */
type Services = { cache: ReadThroughCache; views: ViewServices | null };

/** Creates what the requests of one isolate share. Throws an Error that names every missing or bad setting. */
function createServices(env: Env, log: Logger): Services {
  const settings = readSettings(env);
  const { origin, bundles, fallback, originKeys: keys, timeoutSeconds } = settings;
  const base = origin?.url ?? noOrigin;
  const backoff = new Backoff(settings.backoffSeconds, Math.random);
  const common = { keys, timeoutSeconds, backoff, clock, log };
  const readers = bundles && createBundleReaders({ ...common, ...bundles, base, isOnly: origin === null });
  const originSource =
    origin && new OriginSource({ ...common, ...origin, signer: new EdgeSigner(origin.edgeKeys) });
  const sources = [originSource, readers?.source ?? null].filter((source) => source !== null);
  const intervalSeconds = settings.fallbackIntervalSeconds;
  const cache = new ReadThroughCache({
    ...common,
    cache: new TieredCache(new DataCentreCache(base), log),
    sources,
    timeoutSeconds: timeoutSeconds * sources.length,
    kvFallback: fallback && new KvFallback(fallback, { intervalSeconds, keys, clock }),
  });
  return { cache, views: settings.views && createViewServices(cache, settings.views, { readers, log }) };
}

function createViewServices(
  cache: ReadThroughCache,
  settings: NonNullable<ReturnType<typeof readSettings>["views"]>,
  { readers, log }: { readers: ReturnType<typeof createBundleReaders> | null; log: Logger },
): ViewServices {
  const shards = new ViewShards(settings.shards, settings.shardsPerRegion);
  const ownKeys = readers?.tokenKeys ?? Promise.resolve([]);
  const tokenKeys = ownKeys.then((own) => ({ keys: [...settings.tokenKeys.keys, ...own] }));
  return {
    verifier: new TokenVerifier(tokenKeys, clock),
    lists: new ListBlocks(cache, readers?.source ?? null),
    batches: new IncrementBatches({ shards, batchSeconds: settings.batchSeconds, log }),
    served: new ServedLists({ shards, flushSeconds, log }),
    shards,
    pullKeys: settings.pullKeys,
    clock,
    log,
  };
}
