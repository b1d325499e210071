import type { Visit } from "./renewals.ts";

/**
 * What a request brings along besides what it asks. The visitor's address is read in one case only, a miss, and
 * given to nobody but Cloudflare's rate limiter, which forgets it within a minute.
 */
export function visitOf(request: Request, env: Env, context: ExecutionContext): Visit {
  return {
    keepAlive: (work) => context.waitUntil(work),
    mayMiss: async () => (await env.MISSES.limit({ key: networkOf(request) })).success,
  };
}

// An IPv6 visitor has a whole /64 to choose addresses from.
function networkOf(request: Request): string {
  const address = request.headers.get("cf-connecting-ip") ?? "";
  return address.includes(":") ? address.split(":").slice(0, 4).join(":") : address;
}
