import { networkOf } from "./network.ts";
import type { Visit } from "./renewals.ts";

/**
 * What a request brings along besides what it asks. The visitor's address is read in one case only, a miss, and
 * given to nobody but Cloudflare's rate limiter, which forgets it within a minute.
 */
export function visitOf(request: Request, env: Env, context: ExecutionContext): Visit {
  return {
    keepAlive: (work) => context.waitUntil(work),
    mayMiss: async () =>
      (await env.MISSES.limit({ key: networkOf(request.headers.get("cf-connecting-ip") ?? "") })).success,
  };
}
