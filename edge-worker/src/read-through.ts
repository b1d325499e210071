import { paths } from "@trendvault/contract/paths";
import type { ListRefusal } from "@trendvault/contract/queries";
import type { KvFallback, TieredCache } from "./cache.ts";
import {
  type Backoff,
  type DocumentSource,
  FailureBackoff,
  type SourceAnswer,
  type SourceRefusal,
  type WaitUntil,
} from "./document-source.ts";
import { isAllowed, type Logger, nullOnError } from "./log.ts";
import { type CanonicalRequest, freshnessAt, onlyMonotonic, onlyUsable } from "./policy.ts";
import { dependsOnPublications, findRefusal, readPublicationIndex } from "./publication-index.ts";
import { isNewer, type StoredResponse } from "./signed-answer.ts";
import { nullAfter, SingleFlight } from "./single-flight.ts";

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
type CacheStatus = {
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

/** What belongs to one request of a client. */
export type RequestContext = {
  waitUntil: WaitUntil;
  /** Whether this client may cause one more request to the sources; counts it. */
  allowOriginFetch: () => Promise<boolean>;
};

type Options = {
  cache: TieredCache;
  /** In the order in which they are asked, at least one. */
  sources: readonly DocumentSource[];
  /** What all of them together may take for one document, in seconds. */
  timeoutSeconds: number;
  /** Null: there is none. */
  kvFallback: KvFallback | null;
  /** How long no source is asked for a target after they have failed at it. */
  backoff: Backoff;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

/** The caches in front of the sources. What the requests of one isolate share. */
export class ReadThroughCache {
  /** Unix seconds. */
  readonly clock: () => number;
  readonly #cache: TieredCache;
  readonly #revalidator: Revalidator;

  constructor(options: Options) {
    this.clock = options.clock;
    this.#cache = options.cache;
    this.#revalidator = new Revalidator(options);
  }

  /** What is stored, of any age. */
  match(target: string): Promise<StoredResponse | null> {
    return this.#cache.match(target);
  }

  /**
   * A fresh response is served; a stale one is served and revalidated in the background; without either the client
   * waits for the sources, and gets the expired response when they fail. After a failure the next clients do not wait
   * for another. However many of the parts give no answer, the client waits for all of them together no longer than
   * for the sources, one after another, and then for KV.
   */
  async read(canonical: CanonicalRequest, context: RequestContext): Promise<CacheResult> {
    const deadline = Date.now() + this.#revalidator.longestSeconds * 1000;
    const response = await this.#match(canonical.target);
    const freshness = response === null ? "unusable" : freshnessAt(this.clock(), response);
    if (response !== null && freshness === "fresh") return { kind: "response", response, cacheStatus: hit };
    if (response !== null && freshness === "stale") {
      this.#revalidator.revalidateInBackground(canonical, context);
      return { kind: "response", response, cacheStatus: staleHit };
    }
    const fwd = freshness === "unusable" ? "miss" : "stale";
    const newer = await nullAfter(deadline, this.#readNewer(canonical, context, fwd));
    if (newer !== null) return newer;
    const failure = await this.#revalidator.giveUp(canonical, response);
    return toCacheResult(failure, { fwd }, this.clock());
  }

  /** What is stored. Where it is stale, a visitor may have seen what another isolate of the data centre has. */
  async #match(target: string): Promise<StoredResponse | null> {
    const known = await this.#cache.match(target);
    const isStale = known !== null && freshnessAt(this.clock(), known) === "stale";
    if (!isStale || !this.#revalidator.mayBegin(target)) return known;
    return (await nullAfter(Date.now() + sharedPatientMs, this.#cache.matchNewest(target))) ?? known;
  }

  async #readNewer(
    canonical: CanonicalRequest,
    context: RequestContext,
    fwd: "miss" | "stale",
  ): Promise<CacheResult> {
    const failure = this.#revalidator.recentFailure(canonical.target);
    const refusal = await this.#refuse(canonical, context, failure?.result);
    if (refusal !== null) return { kind: "refused", refusal };
    if (failure !== null && (failure.isBackingOff || hasFallback(failure.result))) {
      this.#revalidator.revalidateInBackground(canonical, context);
      return toCacheResult(failure.result, hit, this.clock());
    }
    const { result, collapsed } = await this.#revalidator.revalidate(canonical, context);
    const late = isRefused(result) ? await this.#refuse(canonical, context, result, this.clock()) : null;
    if (late !== null) {
      this.#revalidator.excuse(canonical.target, result);
      return { kind: "refused", refusal: late };
    }
    return toCacheResult(result, { fwd, collapsed }, this.clock());
  }

  /**
   * Why there is no such list, decided from the origin's signed index of what it has published: the origin need not be
   * asked for it. Null when there may be one, or when there is no index. `last`: how it was last asked for the list.
   * `since`: when an index was fetched that says that it does not exist, at the earliest (Unix seconds).
   */
  async #refuse(
    { query, wasPublished = false }: CanonicalRequest,
    context: RequestContext,
    last: RevalidationResult | undefined,
    since = this.clock() - trustedSeconds,
  ): Promise<ListRefusal | null> {
    if (!dependsOnPublications(query)) return null;
    const isDoubted = last !== undefined && isRefused(last);
    const known = await this.#readIndex(Number.NEGATIVE_INFINITY, context);
    if (known === null) return null;
    const found = findRefusal(query, known);
    const read = () => this.#readIndex(since, context);
    if (found?.holds === "for good") {
      context.waitUntil(read()); // a database that was set up anew counts from 1 again
      return found.refusal;
    }
    if (!isDoubted && (found === null || found.holds === "not for long" || wasPublished)) return null;
    const newer = await read();
    return newer && (findRefusal(query, newer)?.refusal ?? null);
  }

  /** An index that was fetched since a time (Unix seconds). One in a bundle knows of its own generation only. */
  async #readIndex(since: number, context: RequestContext) {
    const response = await this.#readIndexDocument(since, context);
    return response && readPublicationIndex(response.body, response.bundle !== undefined);
  }

  async #readIndexDocument(since: number, context: RequestContext): Promise<StoredResponse | null> {
    const stored = await this.#cache.match(indexRequest.target);
    const freshness = stored === null ? "unusable" : freshnessAt(this.clock(), stored);
    if (stored !== null && stored.fetchedAt >= since && (freshness === "fresh" || freshness === "stale")) {
      if (freshness === "stale") this.#revalidator.revalidateInBackground(indexRequest, context);
      return stored;
    }
    const recent = this.#revalidator.recentFailure(indexRequest.target);
    const result = recent?.isBackingOff
      ? recent.result
      : (await this.#revalidator.revalidate(indexRequest, context, since)).result;
    const { kind } = result;
    return kind === "fetched" || kind === "already-fresh" || kind === "unchanged" ? result.response : null;
  }
}

/** What is stale does not wait for longer for what other isolates have. */
const sharedPatientMs = 100;
const indexRequest: CanonicalRequest = { target: paths.regions, query: null, regionFromCountry: false };
/** An index of the last second needs no newer one to say that something does not exist. */
const trustedSeconds = 1;

const hit: CacheStatus = { fwd: null };
const staleHit: CacheStatus = { ...hit, detail: "stale-while-revalidate" };

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
      return { kind: "response", response, cacheStatus: staleHit };
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

const cacheAccessSeconds = 2; // what reading and writing caches may take beyond the sources' timeout

/** Fetches newer responses: one request per target at a time, and none for a while after failures. */
class Revalidator {
  /** A revalidation that takes longer is given up. */
  readonly longestSeconds: number;
  readonly #options: Options;
  readonly #flights: SingleFlight<RevalidationResult>;
  readonly #backoff: FailureBackoff<RevalidationResult>;

  constructor(options: Options) {
    this.#options = options;
    const { backoff, clock, timeoutSeconds } = options;
    this.longestSeconds = timeoutSeconds + cacheAccessSeconds;
    this.#flights = new SingleFlight(this.longestSeconds);
    this.#backoff = new FailureBackoff(backoff, clock);
  }

  /** How the last revalidation ended, if it gave no response and that was not long ago. */
  recentFailure(target: string) {
    return this.#backoff.recent(target);
  }

  /**
   * Revalidates, or waits for a revalidation in flight (`collapsed`). A response that is fresh and was fetched since a
   * time (Unix seconds) needs none.
   */
  async revalidate(
    canonical: CanonicalRequest,
    context: RequestContext,
    since = 0,
  ): Promise<{ result: RevalidationResult; collapsed: boolean }> {
    const first = await this.#share(canonical, context, since);
    const isOthersRefusal = first.shared && first.value?.kind === "rate-limited";
    const { value, shared } = isOthersRefusal ? await this.#shareOwn(canonical, context, since) : first;
    const result = value ?? (await this.giveUp(canonical, await this.#options.cache.match(canonical.target)));
    return { result, collapsed: shared };
  }

  /** What was refused because it is not published yet is asked for as soon as it is. */
  excuse(target: string, result: RevalidationResult): void {
    this.#backoff.hold(target, result, this.#options.clock());
  }

  /** What is served when nothing came in time: the request that began the work was cancelled, or much of it hangs. */
  async giveUp(canonical: CanonicalRequest, stored: StoredResponse | null): Promise<RevalidationResult> {
    const usable = onlyUsable(stored, this.#options.clock());
    return { kind: "failure", status: null, fallback: await this.#fallbackFor(canonical, usable) };
  }

  /** Revalidates after the response. It counts as one of the client's: else a client could keep any number alive. */
  revalidateInBackground(canonical: CanonicalRequest, context: RequestContext): void {
    if (this.mayBegin(canonical.target)) context.waitUntil(this.revalidate(canonical, context));
  }

  mayBegin(target: string): boolean {
    return !this.recentFailure(target)?.isBackingOff && !this.#flights.isInFlight(target);
  }

  #share(canonical: CanonicalRequest, context: RequestContext, since: number) {
    return this.#flights.run(canonical.target, () => {
      const work = this.#revalidate(canonical, context, since);
      context.waitUntil(work);
      return work;
    });
  }

  /**
   * Another client was rate-limited; that must not become this one's refusal, however many such clients there are. So
   * this one is counted itself, before it waits for another's request again.
   */
  async #shareOwn(canonical: CanonicalRequest, context: RequestContext, since: number) {
    const allowed = await isAllowed(context.allowOriginFetch(), this.#options.log);
    const counted = { ...context, allowOriginFetch: async () => allowed };
    let flight = await this.#share(canonical, counted, since);
    while (allowed && flight.shared && flight.value?.kind === "rate-limited") {
      flight = await this.#share(canonical, counted, since);
    }
    return flight;
  }

  async #revalidate(
    canonical: CanonicalRequest,
    context: RequestContext,
    since: number,
  ): Promise<RevalidationResult> {
    const { cache, clock } = this.#options;
    const stored = onlyUsable(await cache.matchNewest(canonical.target), clock());
    if (stored !== null && freshnessAt(clock(), stored) === "fresh" && stored.fetchedAt >= since) {
      return { kind: "already-fresh", response: stored };
    }
    if (this.#waitsUntil !== null) return this.#hold(canonical, stored);
    return this.#ask(canonical, stored, context);
  }

  /** Until when no source is to be asked; null when there is one that may be. */
  get #waitsUntil(): number | null {
    const times = this.#options.sources.map(({ waitsUntil }) => waitsUntil);
    return times.reduce((first, time) => (first === null || time === null ? null : Math.min(first, time)));
  }

  async #hold(canonical: CanonicalRequest, stored: StoredResponse | null): Promise<RevalidationResult> {
    const fallback = await this.#fallbackFor(canonical, stored);
    const result: RevalidationResult = { kind: "backing-off", fallback };
    this.#backoff.hold(canonical.target, result, this.#waitsUntil ?? 0);
    return result;
  }

  /** Asks the sources in turn, until one has an answer. */
  async #ask(
    canonical: CanonicalRequest,
    stored: StoredResponse | null,
    context: RequestContext,
  ): Promise<RevalidationResult> {
    const { sources, cache, clock } = this.#options;
    const now = clock();
    let allowed: Promise<boolean> | undefined;
    const held = {
      stored: onlyMonotonic(stored, now),
      waitUntil: context.waitUntil,
      mayRead: () => {
        allowed ??= isAllowed(context.allowOriginFetch(), this.#options.log);
        return allowed;
      },
    };
    let failure: FailedAnswer | null = null;
    for (const source of sources) {
      const answer = await source.read(canonical, held);
      if (answer.kind === "response") {
        const { response } = answer;
        const found = cache.matchLocal(response.target); // of another request, while the source was asked
        if (found !== null && this.#isReplacedBy(found, response))
          return { kind: "unchanged", response: found };
        this.#store(canonical, response, context);
        const isFallback = source !== sources[0];
        return { kind: "fetched", response, originSeconds: Math.max(0, clock() - now), isFallback };
      }
      const result = await this.#settle(canonical, answer, { stored, failure });
      if (result !== null) return result;
      if (answer.kind === "failed") failure ??= answer;
    }
    return failure === null ? this.#hold(canonical, stored) : this.#fail(canonical, stored, failure);
  }

  /** Whether what is stored is newer than a source's answer. */
  #isReplacedBy(stored: StoredResponse, response: StoredResponse): boolean {
    const now = this.#options.clock();
    if (onlyMonotonic(onlyUsable(stored, now), now) === null) return false;
    return response.status === 404 ? stored.fetchedAt > response.fetchedAt : isNewer(stored, response);
  }

  /** What an answer without a response means; null when the next source is to be asked. */
  async #settle(
    canonical: CanonicalRequest,
    answer: SourceAnswer,
    { stored, failure }: { stored: StoredResponse | null; failure: FailedAnswer | null },
  ): Promise<RevalidationResult | null> {
    switch (answer.kind) {
      case "unchanged":
        if (stored === null) return null;
        return this.#remember(canonical, { kind: "unchanged", response: stored }, answer.until, failure);
      case "refused":
        return this.#remember(canonical, answer, answer.until, failure);
      case "rate-limited":
        return { kind: "rate-limited", fallback: await this.#fallbackFor(canonical, stored) };
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
    else this.#recordFailure(target, result, failure.retryAfter);
    return result;
  }

  /** While a source as a whole fails, the target is not to blame: it may be the one that finds the source well again. */
  #recordFailure(target: string, result: RevalidationResult, retryAfter: number): void {
    const until = this.#options.sources.map(({ waitsUntil }) => waitsUntil).find((time) => time !== null);
    if (until === undefined || until === null) this.#backoff.record(target, result, retryAfter);
    else this.#backoff.hold(target, result, until);
  }

  #store(canonical: CanonicalRequest, response: StoredResponse, context: RequestContext): void {
    const { cache, kvFallback, log } = this.#options;
    const stored = cache.put(response, (shared) => this.#isReplacedBy(shared, response));
    const written = Promise.all([stored, kvFallback?.putIfDue(canonical, response)]);
    this.#backoff.clear(canonical.target);
    context.waitUntil(nullOnError(written, log, "response_not_stored"));
  }

  async #fail(
    canonical: CanonicalRequest,
    stored: StoredResponse | null,
    { status, retryAfter }: FailedAnswer,
  ): Promise<RevalidationResult> {
    const fallback = await this.#fallbackFor(canonical, stored);
    const result: RevalidationResult = { kind: "failure", status, fallback };
    this.#recordFailure(canonical.target, result, retryAfter);
    return result;
  }

  async #fallbackFor(
    canonical: CanonicalRequest,
    stored: StoredResponse | null,
  ): Promise<FallbackResponse | null> {
    if (stored !== null) return { response: stored, source: "stale-if-error" };
    const { kvFallback, clock, log } = this.#options;
    if (kvFallback === null) return null;
    const read = await nullOnError(kvFallback.get(canonical), log, "fallback_not_read");
    const response = onlyUsable(read, clock());
    return response === null ? null : { response, source: "kv-fallback" };
  }
}
