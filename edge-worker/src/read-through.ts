import { regionsPath } from "@trendvault/contract/paths";
import type { ListRefusal } from "@trendvault/contract/queries";
import type { KvFallback, TieredCache } from "./cache.ts";
import {
  type BackoffOptions,
  type DocumentSource,
  FailureBackoff,
  type RecentFailure,
  type SourceAnswer,
  type SourceRefusal,
} from "./document-source.ts";
import { type Logger, limiterFailed, nullOnError } from "./log.ts";
import { type CanonicalRequest, freshnessAt, onlyMonotonic, onlyUsable } from "./policy.ts";
import {
  dependsOnPublished,
  isDeleted,
  mayBeNext,
  type Published,
  readPublished,
  refuseList,
} from "./publication-index.ts";
import type { StoredResponse } from "./signed-answer.ts";
import { nullAfter, once, SingleFlight } from "./single-flight.ts";

/** What a client gets: a response, why there is none, or why there is none for now. */
type CacheResult =
  | CachedResponse
  | ({ kind: "refused" } & SourceRefusal)
  | { kind: "origin-failed" | "rate-limited" };

/** A stored response, and how it was found. `originSeconds`: how long the origin took, if it was asked. */
export type CachedResponse = {
  kind: "response";
  response: StoredResponse;
  cacheStatus: CacheStatus;
  originSeconds?: number;
};

/** How a response was found, in the terms of RFC 9211, section 2. */
export type CacheStatus = {
  /** Why the request went to the origin, or null when it did not. */
  fwd: "miss" | "stale" | null;
  /** The status of the origin's response, if it gave one. */
  fwdStatus?: number;
  stored?: boolean;
  /** This request shared another's request to the origin. */
  collapsed?: boolean;
  /** Why a response that is not fresh, or not the first source's, is served. */
  detail?: "stale-while-revalidate" | "stale-if-error" | "bundle" | "bundle-fallback" | "kv-fallback";
};

const hit: CacheStatus = { fwd: null };

/**
 * Reads through the cache. A fresh response is served; a stale one is served and revalidated in the background;
 * without either the client waits for the sources, and gets the expired response when they fail. After a failure
 * the next clients do not wait for another.
 */
export async function readThrough(
  request: CanonicalRequest,
  context: RequestContext,
  services: EdgeServices,
): Promise<CacheResult> {
  const { cache, revalidator, clock } = services;
  const response = await cache.match(request.target);
  const freshness = response === null ? "unusable" : freshnessAt(clock(), response);
  if (response !== null && freshness === "fresh") return { kind: "response", response, cacheStatus: hit };
  if (response !== null && freshness === "stale") {
    revalidator.revalidateInBackground(request, context);
    return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-while-revalidate" } };
  }
  const failure = revalidator.recentFailure(request.target);
  const refuse = (last: RevalidationResult | undefined) =>
    refuseUnpublished(request, { context, services, doubted: last !== undefined && isRefused(last) });
  const refusal = await refuse(failure?.result);
  if (refusal !== null) return { kind: "refused", refusal };
  if (failure !== null && (failure.isBackingOff || hasFallback(failure.result))) {
    revalidator.revalidateInBackground(request, context);
    return toCacheResult(failure.result, hit, clock());
  }
  const { result, collapsed } = await revalidator.revalidate(request, context);
  const late = isRefused(result) ? await refuse(result) : null;
  if (late !== null) return { kind: "refused", refusal: late };
  return toCacheResult(result, { fwd: freshness === "unusable" ? "miss" : "stale", collapsed }, clock());
}

function toCacheResult(result: RevalidationResult, cacheStatus: CacheStatus, now: number): CacheResult {
  switch (result.kind) {
    case "already-fresh":
      return { ...result, kind: "response", cacheStatus: hit };
    case "fetched": {
      const { response, originSeconds } = result;
      const found = {
        ...cacheStatus,
        fwdStatus: response.status,
        stored: true,
        ...sourceDetail(result, now),
      };
      return { kind: "response", response, originSeconds, cacheStatus: found };
    }
    case "unchanged":
      return unchangedResult(result.response, now);
    case "refused":
      return result;
    case "rate-limited":
      return fromFallback(result.fallback, hit) ?? { kind: "rate-limited" };
    case "backing-off":
      return fromFallback(result.fallback, hit) ?? { kind: "origin-failed" };
    case "failure":
      return fromFallback(result.fallback, cacheStatus) ?? { kind: "origin-failed" };
  }
}

/** Which source a document comes from, when that is to be known: one that is as old as a copy is marked like one. */
function sourceDetail(
  { response, isFallback }: Extract<RevalidationResult, { kind: "fetched" }>,
  now: number,
): Pick<CacheStatus, "detail"> {
  if (response.bundle === undefined) return {};
  if (freshnessAt(now, response) === "expired") return { detail: "bundle-fallback" };
  return isFallback ? { detail: "bundle" } : {};
}

/** A stored response of which no source has a newer one. */
function unchangedResult(response: StoredResponse, now: number): CacheResult {
  switch (freshnessAt(now, response)) {
    case "fresh":
      return { kind: "response", response, cacheStatus: hit };
    case "stale":
      return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-while-revalidate" } };
    case "expired":
      return { kind: "response", response, cacheStatus: { ...hit, detail: "stale-if-error" } };
    case "unusable":
      return { kind: "origin-failed" };
  }
}

// The origin says so without a signature: what it has published decides.
function isRefused(result: RevalidationResult): boolean {
  return result.kind === "failure" && (result.status === 400 || result.status === 410);
}

function hasFallback(result: RevalidationResult): boolean {
  return result.kind === "unchanged" || ("fallback" in result && result.fallback !== null);
}

function fromFallback(fallback: FallbackResponse | null, cacheStatus: CacheStatus): CacheResult | null {
  if (fallback === null) return null;
  const { response, source } = fallback;
  return { kind: "response", response, cacheStatus: { ...cacheStatus, detail: source } };
}

/** `doubted`: the origin has refused the list, but without a signature. */
type Options = { context: RequestContext; services: EdgeServices; doubted: boolean };

const statement: CanonicalRequest = { target: regionsPath, query: null, regionFromCountry: false };
/** A statement of the last seconds needs no newer one to say that something does not exist. */
const trustedSeconds = 10;
const trustedSecondsInDoubt = 1;

/**
 * Why there is no such list, decided from the origin's signed statement of what it has published: the origin need not
 * be asked for it. Null when there may be one, or when there is no statement.
 */
async function refuseUnpublished({ query }: CanonicalRequest, options: Options): Promise<ListRefusal | null> {
  if (!dependsOnPublished(query)) return null;
  const since = options.services.clock() - (options.doubted ? trustedSecondsInDoubt : trustedSeconds);
  const known = await readStatement(Number.NEGATIVE_INFINITY, options);
  if (known === null) return null;
  const published = readStated(known);
  const refusal = refuseList(query, published);
  if (refusal !== null && isDeleted(query, published)) return refusal;
  if (!options.doubted && (refusal === null || mayBeNext(query, published))) return null;
  const newer = await readStatement(since, options);
  return newer === null ? null : refuseList(query, readStated(newer));
}

/** What a statement says. One in a bundle knows of its own generation only. */
function readStated({ body, bundle }: StoredResponse): Published {
  const published = readPublished(body);
  return bundle === undefined ? published : { ...published, isOfOne: true };
}

/** A statement that was fetched since a time (Unix seconds). */
async function readStatement(
  since: number,
  { context, services: { cache, revalidator, clock } }: Options,
): Promise<StoredResponse | null> {
  const stored = await cache.match(statement.target);
  const freshness = stored === null ? "unusable" : freshnessAt(clock(), stored);
  if (stored !== null && stored.fetchedAt >= since && (freshness === "fresh" || freshness === "stale")) {
    if (freshness === "stale") revalidator.revalidateInBackground(statement, context);
    return stored;
  }
  const recent = revalidator.recentFailure(statement.target);
  if (recent?.isBackingOff) return statementOf(recent.result);
  return statementOf((await revalidator.revalidate(statement, context, since)).result);
}

function statementOf(result: RevalidationResult): StoredResponse | null {
  const { kind } = result;
  return kind === "fetched" || kind === "already-fresh" || kind === "unchanged" ? result.response : null;
}

/** How a revalidation ended. */
type RevalidationResult =
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
type FallbackResponse = { response: StoredResponse; source: "stale-if-error" | "kv-fallback" };

/** What belongs to one request of a client. */
export type RequestContext = {
  /** Keeps the Worker running until the work is done, after the response was sent. */
  waitUntil: (work: Promise<unknown>) => void;
  /** Whether this client may cause one more request to the sources; counts it. */
  allowOriginFetch: () => Promise<boolean>;
};

type RevalidatorOptions = {
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
      stored: onlyMonotonic(stored, now),
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

/** What the requests of one isolate share. `clock` gives Unix seconds. */
export type EdgeServices = { cache: TieredCache; revalidator: Revalidator; clock: () => number };
