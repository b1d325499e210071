import { isReadMethod, longestTarget, refusalDetails, traceparentHeader } from "@trendvault/contract/http";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { DatabaseUnreadable } from "../database/errors.ts";
import type { Logger } from "../logging/logger.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Resource, RouteName } from "../resources/resource.ts";
import { BuildBudget } from "../serving/build-budget.ts";
import type { CacheEntry } from "../serving/cache-entry.ts";
import type { Counters } from "../serving/counters.ts";
import { type Representation, SignedRefusal } from "../serving/representation.ts";
import type { BuildResult, ResponseCache } from "../serving/response-cache.ts";
import type { EdgeGuard } from "./edge-guard.ts";
import { reportFailure } from "./failure.ts";
import { describeHealth, preflightResponse } from "./plain-responses.ts";
import { problemResponse } from "./problem-response.ts";
import { splitTarget, targetLength } from "./request-target.ts";
import type { FindRoute } from "./routes.ts";
import { send } from "./send.ts";

export type SlowPathParts = {
  cache: ResponseCache;
  counters: Counters;
  findRoute: FindRoute;
  chooseEncoding: (header: string | null) => number | null;
  /** Null: requests need no signature of the edge. */
  guard: EdgeGuard | null;
  log: Logger;
};

/** Answers everything but a GET whose answer is in the cache: what has to be verified, parsed, built or refused. */
export class SlowPath {
  readonly #parts: SlowPathParts;
  readonly #budget = new BuildBudget();
  #isDraining = false;

  constructor(parts: SlowPathParts) {
    this.#parts = parts;
  }

  drain(): void {
    this.#isDraining = true;
  }

  answer(request: Request): Response | Promise<Response> {
    const { guard, findRoute } = this.#parts;
    const target = splitTarget(request.url);
    if (target.path === "/healthz") return this.#answerHealth(request);
    if (guard !== null && !guard(request)) return this.#refuse("none", unsignedRequest);
    if (targetLength(target) > longestTarget) return this.#refuse("none", tooLong);
    const route = findRoute(target.path);
    if (route === null) return this.#refuse("none", unknownPath);
    if (request.method === "OPTIONS") return this.#finish(route.name, preflightResponse());
    if (!isReadMethod(request.method)) return this.#refuse(route.name, otherMethod);
    const resource = route.resolve(target);
    if (resource instanceof Refusal) return this.#refuse(route.name, resource);
    return this.#serve(resource, request);
  }

  // Needs no edge signature: load balancers request it.
  #answerHealth(request: Request): Response {
    if (request.method === "OPTIONS") return this.#finish("healthz", preflightResponse());
    if (!isReadMethod(request.method)) return this.#refuse("healthz", otherMethod);
    return this.#finish("healthz", describeHealth(this.#isDraining));
  }

  #serve(resource: Resource, request: Request): Response | Promise<Response> {
    const { cache, chooseEncoding } = this.#parts;
    if (cache.snapshot === null) return this.#refuse(resource.route, nothingPublished);
    const encoding = chooseEncoding(request.headers.get("accept-encoding"));
    if (encoding === null) return this.#refuse(resource.route, noCodingAccepted);
    const entry = cache.find(resource);
    if (entry !== undefined) {
      cache.remember(request.url, entry);
      const representation = entry.current.representations[encoding];
      if (representation !== undefined) return this.#send(representation, request, entry);
    }
    const started = performance.now();
    if (cache.canBuildNow && this.#budget.take(costs[resource.route])) {
      const response = this.#buildNow({ resource, request, started }, encoding);
      if (response !== null) return response;
    }
    const build = cache.build(resource, encoding);
    if (build === null) return this.#refuse(resource.route, tooBusy);
    const waiting = { resource, request, started };
    return build.then(
      (built) => this.#sendBuilt(built, waiting),
      (error) => this.#fail(error, waiting),
    );
  }

  #buildNow(waiting: Waiting, encoding: number): Response | null {
    try {
      const built = this.#parts.cache.buildNow(waiting.resource, encoding);
      return built === null ? null : this.#sendBuilt(built, waiting);
    } catch (error) {
      return this.#fail(error, waiting);
    }
  }

  #sendBuilt(built: BuildResult, { resource, request, started }: Waiting): Response {
    const { cache, counters } = this.#parts;
    if (built instanceof Refusal) return this.#refuse(resource.route, built);
    if (built instanceof SignedRefusal) {
      return this.#finish(resource.route, forMethod(request, built.response.clone() as Response));
    }
    cache.remember(request.url, built.entry);
    counters.misses++;
    const response = this.#send(built.representation, request, built.entry);
    response.headers.set("server-timing", `build;dur=${(performance.now() - started).toFixed(2)}`);
    return response;
  }

  #fail(error: unknown, { resource: { route }, request }: Waiting): Response {
    if (error instanceof DatabaseUnreadable) return this.#refuse(route, unreadable);
    const { guard, log } = this.#parts;
    const traceparent = guard === null ? null : request.headers.get(traceparentHeader);
    return this.#finish(route, reportFailure(error, { traceparent, route, log }));
  }

  #send(representation: Representation, request: Request, entry: CacheEntry): Response {
    return this.#close(forMethod(request, send(representation, request, entry)));
  }

  #refuse(route: RouteName, refusal: Refusal): Response {
    return this.#finish(route, problemResponse(refusal));
  }

  #finish(route: RouteName, response: Response): Response {
    this.#parts.counters.count(route, response.status);
    return this.#close(response);
  }

  // While draining, a client has to connect anew, to a process that goes on listening.
  #close(response: Response): Response {
    if (this.#isDraining) response.headers.set("connection", "close");
    return response;
  }
}

/** A request whose answer is being built since `started`, in milliseconds. */
type Waiting = { resource: Resource; request: Request; started: number };

// A browser holds a digest against the body that it has got.
function forMethod({ method }: Request, response: Response): Response {
  if (method === "HEAD") for (const name of bodyOnlyFields) response.headers.delete(name);
  return response;
}

/** How many lists are built in the time of one of these. */
const costs: Partial<Record<RouteName, number>> = {
  ...{ page: 8, feed: 4, about: 8, asset: 8 },
  export: Number.POSITIVE_INFINITY, // never at once: it takes 20 ms
};

const unsignedRequest = new Refusal(
  "edge-signature",
  "This origin answers only requests that the edge has signed.",
);
const tooLong = new Refusal("uri-too-long", refusalDetails["uri-too-long"]);
const unknownPath = new Refusal("not-found", refusalDetails["not-found"]);
const otherMethod = new Refusal("method-not-allowed", refusalDetails["method-not-allowed"]);
const noCodingAccepted = new Refusal("not-acceptable", "Accept one of identity, br, zstd, gzip.");
const nothingPublished = new Refusal("not-ready", "Nothing was published yet.");
const unreadable = new Refusal("not-ready", "The answer is not in memory, and the database cannot be read.");
const tooBusy = new Refusal("busy", "Too many different answers are being built.");
