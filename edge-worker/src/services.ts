import { DataCentreCache } from "./cache/data-centre-cache.ts";
import { KvFallback } from "./cache/kv-fallback.ts";
import type { EdgeServices } from "./cache/read-through.ts";
import { Revalidator } from "./cache/revalidator.ts";
import { TieredCache } from "./cache/tiered-cache.ts";
import type { Logger } from "./log/logger.ts";
import { readSettings } from "./settings.ts";

/** Creates what the requests of one isolate share. Throws an Error that names every missing or bad setting. */
export function createServices(env: Env, log: Logger): EdgeServices {
  const settings = readSettings(env);
  const clock = () => Date.now() / 1000;
  const cache = new TieredCache(new DataCentreCache(settings.ORIGIN_URL), log);
  const revalidator = new Revalidator({
    cache,
    fallback: new KvFallback(settings.FALLBACK, {
      intervalSeconds: settings.FALLBACK_INTERVAL_SECONDS,
      keys: settings.ORIGIN_JWKS,
    }),
    origin: {
      url: settings.ORIGIN_URL,
      edgeKeys: settings.EDGE_KEYS,
      timeoutSeconds: settings.ORIGIN_TIMEOUT_SECONDS,
    },
    keys: settings.ORIGIN_JWKS,
    backoffSeconds: settings.ORIGIN_BACKOFF_SECONDS,
    clock,
    log,
  });
  return { cache, revalidator, clock };
}
