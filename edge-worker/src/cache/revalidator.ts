import type { Logger } from "../log/logger.ts";
import type { StoredResponse } from "../origin/stored-response.ts";
import type { BackoffOptions } from "../rules/backoff.ts";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import { freshnessAt } from "../rules/freshness.ts";
import { onlyBound, onlyUsable } from "../rules/lower-bound.ts";
import type { DocumentSource, SourceAnswer, SourceRefusal } from "./document-source.ts";
import { FailureBackoff, type RecentFailure } from "./failure-backoff.ts";
import type { KvFallback } from "./kv-fallback.ts";
import { limiterFailed, nullOnError } from "./null-on-error.ts";
import { once } from "./once.ts";
import { nullAfter, SingleFlight } from "./single-flight.ts";
import type { TieredCache } from "./tiered-cache.ts";

/** How a revalidation ended. */
export type RevalidationResult =
  /** `isFallback`: another source than the first had it. */
  | { kind: "fetched"; response: StoredResponse; originSeconds: number; isFallback: boolean }
  /** Another isolate of the data centre had fetched it. */
  | { kind: "already-fresh"; response: StoredResponse }
  /** No source has a newer one. */
  | { kind: "unchanged"; response: StoredResponse }
  | ({ kind: "refused" } & SourceRefusal)
  | { kind: "failure"; status: number | null; fallback: FallbackResponse | null }
  /** No source was asked: they fail, or this client has asked too much. */
  | { kind: "backing-off" | "rate-limited"; fallback: FallbackResponse | null };

type FailedAnswer = Extract<SourceAnswer, { kind: "failed" }>;

/** What is served when nothing better can be had. */
export type FallbackResponse = { response: StoredResponse; source: "stale-if-error" | "kv-fallback" };

/** What belongs to one request of a client. */
export type RequestContext = {
  /** Keeps the Worker running until the work is done, after the response was sent. */
  waitUntil: (work: Promise<unknown>) => void;
  /** Whether this client may cause one more request to the sources; counts it. */
  allowOriginFetch: () => Promise<boolean>;
};

export type RevalidatorOptions = {
  cache: TieredCache;
  /** In the order in which they are asked, at least one. */
  sources: readonly DocumentSource[];
  /** What all of them together may take for one document, in seconds. */
  timeoutSeconds: number;
  /** Null: there is none. */
  kvFallback: KvFallback | null;
  /** How long no source is asked for a target after they have failed at it. */
  backoff: BackoffOptions;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

const kvReadSeconds = 1;
const cacheAccessSeconds = 2; // what reading and writing caches may take beyond the sources' timeout

/** Fetches newer responses: one request per target at a time, and none for a while after failures. */
export class Revalidator {
  readonly #options: RevalidatorOptions;
  readonly #flights: SingleFlight<RevalidationResult>;
  readonly #backoff: FailureBackoff<RevalidationResult>;

  constructor(options: RevalidatorOptions) {
    this.#options = options;
    const { backoff, clock, timeoutSeconds } = options;
    this.#flights = new SingleFlight(timeoutSeconds + cacheAccessSeconds);
    this.#backoff = new FailureBackoff(backoff, clock);
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

  // Without a rate limiter, the breakers and the single flights protect the sources.
  async #allows(context: RequestContext): Promise<boolean> {
    return (await nullOnError(context.allowOriginFetch(), this.#options.log, limiterFailed)) !== false;
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
    if (this.#waitsUntil !== null) return this.#hold(request, stored);
    return this.#ask(request, stored, context);
  }

  /** Until when no source is to be asked; null when there is one that may be. */
  get #waitsUntil(): number | null {
    const times = this.#options.sources.map(({ waitsUntil }) => waitsUntil);
    return times.reduce((first, time) => (first === null || time === null ? null : Math.min(first, time)));
  }

  async #hold(request: CanonicalRequest, stored: StoredResponse | null): Promise<RevalidationResult> {
    const fallback = await this.#fallbackFor(request, stored);
    const result: RevalidationResult = { kind: "backing-off", fallback };
    this.#backoff.hold(request.target, result, this.#waitsUntil ?? 0);
    return result;
  }

  /** Asks the sources in turn, until one has an answer. */
  async #ask(
    request: CanonicalRequest,
    stored: StoredResponse | null,
    context: RequestContext,
  ): Promise<RevalidationResult> {
    const { sources, clock } = this.#options;
    const now = clock();
    const held = {
      stored: onlyBound(stored, now),
      waitUntil: context.waitUntil,
      mayRead: once(() => this.#allows(context)),
    };
    let failure: FailedAnswer | null = null;
    for (const source of sources) {
      const answer = await source.read(request, held);
      if (answer.kind === "response") {
        const { response } = answer;
        this.#store(request, response, context);
        const isFallback = source !== sources[0];
        return { kind: "fetched", response, originSeconds: Math.max(0, clock() - now), isFallback };
      }
      const result = await this.#settle(request, answer, { stored, failure });
      if (result !== null) return result;
      if (answer.kind === "failed") failure ??= answer;
    }
    return failure === null ? this.#hold(request, stored) : this.#fail(request, stored, failure);
  }

  /** What an answer without a response means; null when the next source is to be asked. */
  async #settle(
    request: CanonicalRequest,
    answer: SourceAnswer,
    { stored, failure }: { stored: StoredResponse | null; failure: FailedAnswer | null },
  ): Promise<RevalidationResult | null> {
    switch (answer.kind) {
      case "unchanged":
        if (stored === null) return null;
        return this.#remember(request, { kind: "unchanged", response: stored }, answer.until, failure);
      case "refused":
        return this.#remember(request, answer, answer.until, failure);
      case "rate-limited":
        return { kind: "rate-limited", fallback: await this.#fallbackFor(request, stored) };
      default:
        return null;
    }
  }

  /** An answer of a source that holds until a time; for longer when the ones before it fail. */
  #remember(
    { target }: CanonicalRequest,
    result: RevalidationResult,
    until: number,
    failure: FailedAnswer | null,
  ): RevalidationResult {
    if (failure === null) this.#backoff.hold(target, result, until);
    else this.#backoff.record(target, result, failure.retryAfter);
    return result;
  }

  #store(request: CanonicalRequest, response: StoredResponse, context: RequestContext): void {
    const { cache, kvFallback, log } = this.#options;
    const written = Promise.all([cache.put(response), kvFallback?.putIfDue(request, response)]);
    this.#backoff.clear(request.target);
    const entry = { event: "response_not_stored", message: "A response was served but not stored." };
    context.waitUntil(nullOnError(written, log, entry));
  }

  async #fail(
    request: CanonicalRequest,
    stored: StoredResponse | null,
    { status, retryAfter }: FailedAnswer,
  ): Promise<RevalidationResult> {
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
    if (kvFallback === null) return null;
    const entry = { event: "fallback_not_read", message: "The KV fallback could not be used." };
    const read = nullOnError(kvFallback.get(request), log, entry);
    const response = onlyUsable(await nullAfter(Date.now() + kvReadSeconds * 1000, read), clock());
    return response === null ? null : { response, source: "kv-fallback" };
  }
}
