import { EdgeSigner } from "@trendvault/contract/request-signatures";
import { type BundleReaders, createBundleReaders } from "./bundle/create-bundle-readers.ts";
import { DataCentreCache } from "./cache/data-centre-cache.ts";
import type { EdgeServices } from "./cache/edge-services.ts";
import { KvFallback } from "./cache/kv-fallback.ts";
import { OriginSource } from "./cache/origin-source.ts";
import { Revalidator } from "./cache/revalidator.ts";
import { TieredCache } from "./cache/tiered-cache.ts";
import type { Logger } from "./log/logger.ts";
import { readSettings, type ViewSettings } from "./settings.ts";
import { IncrementBatches } from "./views/increment-batches.ts";
import { ListBlocks } from "./views/list-blocks.ts";
import { ServedLists } from "./views/served-lists.ts";
import { TokenVerifier } from "./views/token-verifier.ts";
import type { ViewServices } from "./views/view-services.ts";
import { ViewShards } from "./views/view-shards.ts";

const flushSeconds = 20; // of served lists; a request may work for 30 s after its response
const clock = () => Date.now() / 1000;
/** What the addresses of cached responses begin with where there is no origin: nobody has this one (RFC 2606). */
const noOrigin = new URL("https://trendvault.invalid");

/** `views` is null where nothing is counted. */
export type Services = EdgeServices & { views: ViewServices | null };

/** Creates what the requests of one isolate share. Throws an Error that names every missing or bad setting. */
export function createServices(env: Env, log: Logger): Services {
  const settings = readSettings(env);
  const { origin, bundles, fallback, originKeys: keys, timeoutSeconds } = settings;
  const base = origin?.url ?? noOrigin;
  const backoff = { seconds: settings.backoffSeconds, random: Math.random };
  const common = { keys, timeoutSeconds, backoff, clock, log };
  const readers = bundles && createBundleReaders({ ...common, ...bundles, base, isOnly: origin === null });
  const originSource =
    origin && new OriginSource({ ...common, ...origin, signer: new EdgeSigner(origin.edgeKeys) });
  const sources = [originSource, readers?.source ?? null].filter((source) => source !== null);
  const intervalSeconds = settings.fallbackIntervalSeconds;
  const cache = new TieredCache(new DataCentreCache(base), log);
  const revalidator = new Revalidator({
    ...common,
    cache,
    sources,
    timeoutSeconds: timeoutSeconds * sources.length,
    kvFallback: fallback && new KvFallback(fallback, { intervalSeconds, keys, clock }),
  });
  const edge = { cache, revalidator, clock };
  return { ...edge, views: settings.views && createViewServices(edge, settings.views, { readers, log }) };
}

function createViewServices(
  edge: EdgeServices,
  settings: ViewSettings,
  { readers, log }: { readers: BundleReaders | null; log: Logger },
): ViewServices {
  const shards = new ViewShards(settings.shards, settings.shardsPerRegion);
  const ownKeys = readers?.tokenKeys ?? Promise.resolve([]);
  const tokenKeys = ownKeys.then((own) => ({ keys: [...settings.tokenKeys.keys, ...own] }));
  const counting = {
    verifier: new TokenVerifier(tokenKeys, clock),
    lists: new ListBlocks(edge, readers?.ranks ?? null),
    batches: new IncrementBatches({ shards, batchSeconds: settings.batchSeconds, log }),
  };
  return {
    counting,
    served: new ServedLists({ shards, flushSeconds, log }),
    shards,
    pullKeys: settings.pullKeys,
    clock,
    log,
  };
}
