import type { PublicKeySet } from "@trendvault/contract/public-keys";
import type { Logger } from "../log/logger.ts";
import { fetchFromOrigin, type OriginOptions, type OriginResponse } from "../origin/fetch-from-origin.ts";
import type { StoredResponse } from "../origin/stored-response.ts";
import { validateOriginResponse } from "../origin/validate-origin-response.ts";
import { type BackoffOptions, readRetryAfter } from "../rules/backoff.ts";
import { type CanonicalRequest, redactedTarget } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import { FailureBackoff, type RecentFailure } from "./failure-backoff.ts";
import type { KvFallback } from "./kv-fallback.ts";
import { nullOnError } from "./null-on-error.ts";
import { OriginBreaker } from "./origin-breaker.ts";
import { nullAfter, SingleFlight } from "./single-flight.ts";
import type { TieredCache } from "./tiered-cache.ts";

/** How a revalidation ended. */
export type RevalidationResult =
  | { kind: "fetched"; response: StoredResponse; originSeconds: number }
  /** Another isolate of the data centre had fetched it. */
  | { kind: "already-fresh"; response: StoredResponse }
  | { kind: "failure"; status: number | null; fallback: FallbackResponse | null }
  /** The origin was not asked: it fails, or this client has asked too much. */
  | { kind: "backing-off" | "rate-limited"; fallback: FallbackResponse | null };

/** What is served when nothing better can be had. */
export type FallbackResponse = { response: StoredResponse; source: "stale-if-error" | "kv-fallback" };

/** What belongs to one request of a client. */
export type RequestContext = {
  /** Keeps the Worker running until the work is done, after the response was sent. */
  waitUntil: (work: Promise<unknown>) => void;
  /** Whether this client may cause one more request to the origin; counts it. */
  allowOriginFetch: () => Promise<boolean>;
};

export type RevalidatorOptions = {
  cache: TieredCache;
  kvFallback: KvFallback;
  origin: OriginOptions;
  keys: PublicKeySet;
  /** How long the origin is not asked for a target after it has failed at it, and for any when it fails at all. */
  backoff: BackoffOptions;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

const refusals = [400, 404, 410]; // the statuses that one request can be to blame for
const kvReadSeconds = 1;
const cacheAccessSeconds = 2; // what reading and writing caches may take beyond the origin's timeout

/** Fetches newer responses: one request to the origin per target at a time, and none for a while after failures. */
export class Revalidator {
  readonly #options: RevalidatorOptions;
  readonly #flights: SingleFlight<RevalidationResult>;
  readonly #backoff: FailureBackoff<RevalidationResult>;
  readonly #breaker: OriginBreaker;

  constructor(options: RevalidatorOptions) {
    this.#options = options;
    const { backoff, clock } = options;
    const flightSeconds = options.origin.timeoutSeconds + cacheAccessSeconds;
    this.#flights = new SingleFlight(flightSeconds);
    this.#backoff = new FailureBackoff(backoff, clock);
    this.#breaker = new OriginBreaker({ ...backoff, probeSeconds: flightSeconds, clock });
  }

  /** How the last revalidation ended, if it gave no response and that was not long ago. */
  recentFailure(target: string): RecentFailure<RevalidationResult> | null {
    return this.#backoff.recent(target);
  }

  /**
   * Revalidates, or waits for a revalidation in flight (`collapsed`). A response that is fresh and was fetched since a
   * time (Unix seconds) needs none.
   */
  async revalidate(
    request: CanonicalRequest,
    context: RequestContext,
    since = 0,
  ): Promise<{ result: RevalidationResult; collapsed: boolean }> {
    const first = await this.#share(request, context, since);
    const isOthersRefusal = first.shared && first.value?.kind === "rate-limited";
    const { value, shared } = isOthersRefusal ? await this.#shareOwn(request, context, since) : first;
    return { result: value ?? (await this.#resultAfterTimeout(request)), collapsed: shared };
  }

  /** Revalidates after the response. It counts as one of the client's: else a client could keep any number alive. */
  revalidateInBackground(request: CanonicalRequest, context: RequestContext): void {
    if (this.recentFailure(request.target)?.isBackingOff || this.#flights.isInFlight(request.target)) return;
    context.waitUntil(this.revalidate(request, context));
  }

  #share(request: CanonicalRequest, context: RequestContext, since: number) {
    return this.#flights.run(request.target, () => {
      const work = this.#revalidate(request, context, since);
      context.waitUntil(work);
      return work;
    });
  }

  /**
   * Another client was rate-limited; that must not become this one's refusal, however many such clients there are. So
   * this one is counted itself, before it waits for another's request again.
   */
  async #shareOwn(request: CanonicalRequest, context: RequestContext, since: number) {
    const isAllowed = await this.#allows(context);
    const counted = { ...context, allowOriginFetch: async () => isAllowed };
    let flight = await this.#share(request, counted, since);
    while (isAllowed && flight.shared && flight.value?.kind === "rate-limited") {
      flight = await this.#share(request, counted, since);
    }
    return flight;
  }

  // Without a rate limiter, the breaker and the single flights protect the origin.
  async #allows(context: RequestContext): Promise<boolean> {
    const entry = { event: "rate_limiter_failed", message: "The rate limiter could not be asked." };
    return (await nullOnError(context.allowOriginFetch(), this.#options.log, entry)) !== false;
  }

  // The request that began the work was cancelled, and the work with it.
  async #resultAfterTimeout(request: CanonicalRequest): Promise<RevalidationResult> {
    const { cache, clock } = this.#options;
    const stored = onlyUsable(await cache.match(request.target), clock());
    return { kind: "failure", status: null, fallback: await this.#fallbackFor(request, stored) };
  }

  async #revalidate(
    request: CanonicalRequest,
    context: RequestContext,
    since: number,
  ): Promise<RevalidationResult> {
    const { cache, clock } = this.#options;
    const stored = onlyUsable(await cache.matchNewest(request.target), clock());
    if (stored !== null && freshnessAt(clock(), stored) === "fresh" && stored.fetchedAt >= since) {
      return { kind: "already-fresh", response: stored };
    }
    if (this.#breaker.waitsUntil !== null) return this.#hold(request, stored);
    if (!(await this.#allows(context))) {
      return { kind: "rate-limited", fallback: await this.#fallbackFor(request, stored) };
    }
    return this.#breaker.begin() ? this.#fetch(request, stored, context) : this.#hold(request, stored);
  }

  async #hold(request: CanonicalRequest, stored: StoredResponse | null): Promise<RevalidationResult> {
    const fallback = await this.#fallbackFor(request, stored);
    const result: RevalidationResult = { kind: "backing-off", fallback };
    this.#backoff.hold(request.target, result, this.#breaker.waitsUntil ?? 0);
    return result;
  }

  async #fetch(
    request: CanonicalRequest,
    stored: StoredResponse | null,
    context: RequestContext,
  ): Promise<RevalidationResult> {
    const { origin, keys, clock } = this.#options;
    const now = clock();
    const received = await fetchFromOrigin(request.target, origin);
    if (typeof received === "string") return this.#fail(request, stored, { reason: received });
    const validated = await validateOriginResponse(received, { request, stored, now, keys });
    if (validated.kind === "invalid") return this.#fail(request, stored, { received, ...validated });
    this.#store(request, validated.response, context);
    return { kind: "fetched", response: validated.response, originSeconds: clock() - now };
  }

  #store(request: CanonicalRequest, response: StoredResponse, context: RequestContext): void {
    const { cache, kvFallback, log } = this.#options;
    const written = Promise.all([cache.put(response), kvFallback.putIfDue(request, response)]);
    this.#backoff.clear(request.target);
    this.#breaker.succeed();
    const entry = { event: "response_not_stored", message: "A response was served but not stored." };
    context.waitUntil(nullOnError(written, log, entry));
  }

  async #fail(
    request: CanonicalRequest,
    stored: StoredResponse | null,
    { received, reason }: { received?: OriginResponse; reason: string },
  ): Promise<RevalidationResult> {
    const { log, clock } = this.#options;
    const message = "The origin gave no response that can be served.";
    log({ level: "error", event: "origin_failed", message, target: redactedTarget(request), reason });
    const status = received?.status ?? null;
    const retryAfter = readRetryAfter(received?.headers.get("retry-after") ?? null, clock());
    // What is too large is so for this target only: a catalogue decides how large a list is.
    const isRefusal = reason === "too-large" || (status !== null && refusals.includes(status));
    this.#breaker.fail({ retryAfter, isRefusal });
    const fallback = await this.#fallbackFor(request, stored);
    const result: RevalidationResult = { kind: "failure", status, fallback };
    this.#backoff.record(request.target, result, retryAfter);
    return result;
  }

  async #fallbackFor(
    request: CanonicalRequest,
    stored: StoredResponse | null,
  ): Promise<FallbackResponse | null> {
    if (stored !== null) return { response: stored, source: "stale-if-error" };
    const { kvFallback, clock, log } = this.#options;
    const entry = { event: "fallback_not_read", message: "The KV fallback could not be used." };
    const read = nullOnError(kvFallback.get(request), log, entry);
    const response = onlyUsable(await nullAfter(Date.now() + kvReadSeconds * 1000, read), clock());
    return response === null ? null : { response, source: "kv-fallback" };
  }
}

// A response that may not be served any more is no lower bound: a database restored from a backup is older, and right.
function onlyUsable(response: StoredResponse | null, now: number): StoredResponse | null {
  return response !== null && freshnessAt(now, response) !== "unusable" ? response : null;
}
