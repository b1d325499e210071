import { EdgeSigner } from "@trendvault/contract/edge-signature";
import { DataCentreCache } from "./cache/data-centre-cache.ts";
import type { EdgeServices } from "./cache/edge-services.ts";
import { KvFallback } from "./cache/kv-fallback.ts";
import { Revalidator } from "./cache/revalidator.ts";
import { TieredCache } from "./cache/tiered-cache.ts";
import type { Logger } from "./log/logger.ts";
import { readSettings } from "./settings.ts";

/** Creates what the requests of one isolate share. Throws an Error that names every missing or bad setting. */
export function createServices(env: Env, log: Logger): EdgeServices {
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
  return { cache, revalidator, clock };
}
