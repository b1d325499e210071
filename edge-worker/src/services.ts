import { EdgeSigner } from "@trendvault/contract/edge-signature";
import { DataCentreCache } from "./cache/data-centre-cache.ts";
import type { EdgeServices } from "./cache/edge-services.ts";
import { KvFallback } from "./cache/kv-fallback.ts";
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

/** `views` is null where nothing is counted. */
export type Services = EdgeServices & { views: ViewServices | null };

/** Creates what the requests of one isolate share. Throws an Error that names every missing or bad setting. */
export function createServices(env: Env, log: Logger): Services {
  const settings = readSettings(env);
  const clock = () => Date.now() / 1000;
  const cache = new TieredCache(new DataCentreCache(settings.originUrl), log);
  const revalidator = new Revalidator({
    cache,
    kvFallback: new KvFallback(settings.fallback, {
      intervalSeconds: settings.fallbackIntervalSeconds,
      keys: settings.originKeys,
    }),
    origin: {
      url: settings.originUrl,
      signer: new EdgeSigner(settings.edgeKeys),
      timeoutSeconds: settings.originTimeoutSeconds,
    },
    keys: settings.originKeys,
    backoff: { seconds: settings.originBackoffSeconds, random: Math.random },
    clock,
    log,
  });
  const edge = { cache, revalidator, clock };
  const views = settings.views === null ? null : createViewServices(edge, settings.views, log);
  return { ...edge, views };
}

function createViewServices(edge: EdgeServices, settings: ViewSettings, log: Logger): ViewServices {
  const { clock } = edge;
  const shards = new ViewShards(settings.shards, settings.shardsPerRegion);
  const counting = {
    verifier: new TokenVerifier(settings.tokenKeys, clock),
    lists: new ListBlocks(edge),
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
