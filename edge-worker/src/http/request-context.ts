import type { RequestContext } from "../cache/revalidator.ts";
import { rateLimitKey } from "./rate-limit-key.ts";

/**
 * What a request brings besides its URL. The visitor's address is read on a miss only, and given only to
 * Cloudflare's rate limiter, which forgets it within a minute.
 */
export function createRequestContext(request: Request, env: Env, context: ExecutionContext): RequestContext {
  return {
    waitUntil: (work) => context.waitUntil(work),
    allowOriginFetch: async () => {
      const key = rateLimitKey(request.headers.get("cf-connecting-ip") ?? "");
      return (await env.MISS_RATE_LIMITER.limit({ key })).success;
    },
  };
}
