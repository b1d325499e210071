import { rateLimitKey } from "./rate-limit-key.ts";
import type { MessageContext } from "./respond-to-views.ts";

/**
 * What a request brings besides its URL. The visitor's address is read on a miss and for a message only, and given only
 * to Cloudflare's rate limiters, which forget it within a minute.
 */
export function createRequestContext(request: Request, env: Env, context: ExecutionContext): MessageContext {
  const isWithin = async (limiter: RateLimit) => {
    const key = rateLimitKey(request.headers.get("cf-connecting-ip") ?? "");
    return (await limiter.limit({ key })).success;
  };
  return {
    waitUntil: (work) => context.waitUntil(work),
    allowOriginFetch: () => isWithin(env.MISS_RATE_LIMITER),
    allowMessage: () => isWithin(env.VIEWS_RATE_LIMITER),
  };
}
