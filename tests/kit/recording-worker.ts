import type { ExecutionContext, ExportedHandler, R2Bucket, R2GetOptions } from "@cloudflare/workers-types";
// @ts-expect-error: what `wrangler deploy` uploads, found through an alias that edge.ts sets
import deployed from "the-deployed-bundle";

/**
 * `allowed`: whether the rate limiter allows a request to the origin. `cf`: members of request.cf. `hangs`: reads of the
 * bucket whose key ends like this never end while it is handled.
 */
export type RecordedRequest = {
  target: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  cf?: Record<string, unknown>;
  allowed?: boolean;
  hangs?: string;
};

/**
 * `reads`: what the Worker read of the request, like `headers.get(accept)`; `limiterKeys`: what it counted it under;
 * `hung`: how many reads of the bucket have begun that never end.
 */
export type Recording = { status: number; reads: string[]; limiterKeys: string[]; hung: number };

/** Runs the deployed Worker with requests that record what is read of them, and a rate limiter that is told what to do. */
// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request: Request, env: { BUNDLES?: R2Bucket }, context: ExecutionContext): Promise<Response> {
    const recordings: Recording[] = [];
    for (const recorded of (await request.json()) as RecordedRequest[]) {
      recordings.push(await handle(recorded, env, context));
    }
    return Response.json(recordings);
  },
};

// The deployed Worker keeps the bindings of its first request.
let hanging: string | undefined;
let hung = 0;

async function handle(
  { target, method = "GET", headers = {}, body, cf = {}, allowed = true, hangs }: RecordedRequest,
  env: { BUNDLES?: R2Bucket },
  context: ExecutionContext,
): Promise<Recording> {
  const [reads, limiterKeys, pending] = [new Set<string>(), [] as string[], [] as Promise<unknown>[]];
  const request = new Request(`https://site.example${target}`, { method, headers, body, cf } as object);
  const limiter = {
    limit: async ({ key }: { key: string }) => {
      limiterKeys.push(key);
      return { success: allowed };
    },
  };
  const bucket = {
    get: (key: string, options?: R2GetOptions) => {
      if (hanging === undefined || !key.endsWith(hanging)) return env.BUNDLES?.get(key, options);
      hung++;
      return new Promise((resolve) => setTimeout(resolve, 86_400_000)); // as I/O does, it belongs to a request
    },
  };
  hanging = hangs;
  const waitUntil = (work: Promise<unknown>) => {
    pending.push(work);
    context.waitUntil(work);
  };
  const worker = deployed as ExportedHandler;
  const response = await worker.fetch?.(
    recordReads(request, "", reads) as never,
    {
      ...env,
      ASSETS: { fetch: async () => new Response('<meta content=""><meta content="">') },
      MISS_RATE_LIMITER: limiter,
      VIEWS_RATE_LIMITER: limiter,
      VIEWS_TOKEN_RATE_LIMITER: limiter,
      VIEWS_NETWORK_RATE_LIMITER: limiter,
      ...(env.BUNDLES && { BUNDLES: bucket }),
    },
    { waitUntil } as never,
  );
  await response?.arrayBuffer();
  await Promise.allSettled(pending);
  return { status: response?.status ?? 0, reads: [...reads].sort(), limiterKeys, hung };
}

/** An object that adds every read of a value, every call and every look at its keys to `reads`. */
function recordReads<T extends object>(object: T, path: string, reads: Set<string>): T {
  const lookAtKeys = <R>(result: R): R => {
    reads.add(`${path}*`);
    return result;
  };
  return new Proxy(object, {
    get(_, property) {
      const name = `${path}${String(property)}`;
      const value: unknown = Reflect.get(object, property, object);
      if (typeof value === "function") {
        return (...args: unknown[]) => {
          reads.add(`${name}(${args.join(", ").toLowerCase()})`);
          return value.apply(object, args);
        };
      }
      if (typeof value === "object" && value !== null) return recordReads(value, `${name}.`, reads);
      reads.add(name);
      return value;
    },
    has: (_, property) => lookAtKeys(Reflect.has(object, property)),
    ownKeys: () => lookAtKeys(Reflect.ownKeys(object)),
    getOwnPropertyDescriptor: (_, property) => lookAtKeys(Reflect.getOwnPropertyDescriptor(object, property)),
  });
}
