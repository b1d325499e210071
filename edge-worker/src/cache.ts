import type { KVNamespace } from "@cloudflare/workers-types";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { type Logger, nullOnError } from "./log.ts";
import { type CanonicalRequest, frontPageName, usableSeconds } from "./policy.ts";
import { isNewer, readAnswer, type StoredResponse, utf8 } from "./signed-answer.ts";
import { isBeforeDeadline, SingleFlight, timeLimit } from "./single-flight.ts";

type SharedCache = Pick<DataCentreCache, "match" | "put">;

/** Where StoredResponses are in the Cache API and in KV. Another form needs another name: both outlive a deployment. */
const storageNamespace = "stored-responses-3";

const memoryCapacity = 40_000_000; // bytes; an isolate has 128 MB
const readTimeoutSeconds = 1;

/** Two tiers: this isolate's memory, and the data centre's cache, which its isolates share. */
export class TieredCache {
  readonly #memory = new LruMap<StoredResponse>(memoryCapacity, weigh);
  readonly #reads = new SingleFlight<StoredResponse | null>(readTimeoutSeconds);
  readonly #dataCentre: SharedCache;
  readonly #log: Logger;

  constructor(dataCentre: SharedCache, log: Logger) {
    this.#dataCentre = dataCentre;
    this.#log = log;
  }

  /** The response in memory, else the data centre's. */
  async match(target: string): Promise<StoredResponse | null> {
    return this.#memory.get(target) ?? this.matchNewest(target);
  }

  /** The response in memory. */
  matchLocal(target: string): StoredResponse | null {
    return this.#memory.get(target);
  }

  /** The newer of the responses in memory and in the data centre's cache. */
  async matchNewest(target: string): Promise<StoredResponse | null> {
    const shared = await this.#matchShared(target);
    const local = this.#memory.get(target);
    if (shared === null || (local !== null && !isNewer(shared, local))) return local;
    this.#memory.set(target, shared);
    return shared;
  }

  /**
   * Serves the response from now on; resolves when the data centre's other isolates have it too. What one of them has
   * stored since the source was asked stays, and is served, where `isNewer` says so.
   */
  async put(response: StoredResponse, isNewer: (shared: StoredResponse) => boolean): Promise<void> {
    const { target } = response;
    this.#memory.set(target, response);
    const shared = await this.#matchShared(target);
    if (shared === null || !isNewer(shared)) return this.#dataCentre.put(response);
    if (this.#memory.get(target) === response) this.#memory.set(target, shared);
  }

  async #matchShared(target: string): Promise<StoredResponse | null> {
    const inTime = timeLimit(readTimeoutSeconds);
    const matched = async () => expectForm(await this.#dataCentre.match(target), target);
    const read = () => nullOnError(inTime(matched()), this.#log, "cache_not_read");
    return (await this.#reads.run(target, read)).value;
  }
}

/** What is of another form would fail each request until it expires; so it is read anew, and replaced. @throws Error */
function expectForm(stored: Partial<StoredResponse> | null, target: string): StoredResponse | null {
  if (stored === null) return null;
  const { status, body, headers, lifetimes, generatedAt, fetchedAt, bundle = 0 } = Object(stored);
  const { maxAge, staleWhileRevalidate, staleIfError } = Object(lifetimes);
  const numbers = [generatedAt, fetchedAt, bundle, maxAge, staleWhileRevalidate, staleIfError];
  const fields = Object.values(Object(headers));
  new Headers(headers); // throws for names and values that no field can have
  const isWhole =
    Object(stored).target === target &&
    (status === 200 || status === 404) &&
    typeof body === "string" &&
    fields.length > 0 &&
    fields.every((value) => typeof value === "string") &&
    numbers.every(Number.isFinite);
  if (!isWhole) throw new Error("it is of another form");
  return stored as StoredResponse;
}

// A page is some 60 KB, a list 10 KB. A text with an emoji takes two bytes for each character; the fields take the rest.
function weigh({ body }: StoredResponse): number {
  return body.length * 2 + 4096;
}

/** The stored responses of this data centre, shared by its isolates (Cache API). It never decides about freshness. */
export class DataCentreCache {
  readonly #base: URL;

  /** `base` makes URLs of targets; with the origin's, a stored response can be purged by its URL. */
  constructor(base: URL) {
    this.#base = base;
  }

  async match(target: string): Promise<StoredResponse | null> {
    const cache = await caches.open(storageNamespace);
    const response = await cache.match(new URL(target, this.#base));
    return response === undefined ? null : response.json();
  }

  /**
   * The Cache API ignores stale-while-revalidate and stale-if-error, so a response is put there for as long as it
   * could be of any use; policy.ts decides from the times inside.
   */
  async put(response: StoredResponse): Promise<void> {
    const headers = { "cache-control": `max-age=${usableSeconds(response.lifetimes)}` };
    const cache = await caches.open(storageNamespace);
    await cache.put(new URL(response.target, this.#base), Response.json(response, { headers }));
  }
}

const shortestExpirationTtl = 60; // seconds, of KV

/**
 * The last good front page of each region and window, in Workers KV: what a data centre serves when it has nothing
 * stored and the origin does not answer.
 */
export class KvFallback {
  readonly #store: KVNamespace;
  readonly #intervalSeconds: number;
  readonly #keys: PublicKeySet;
  readonly #clock: () => number;
  readonly #lastChecked = new Map<string, number>();

  /**
   * `intervalSeconds`: how often a key is written at most, by all data centres together, give or take KV's delay.
   * `keys`: what a page has to be signed with. `clock`: Unix seconds.
   */
  constructor(
    store: KVNamespace,
    options: { intervalSeconds: number; keys: PublicKeySet; clock: () => number },
  ) {
    this.#store = store;
    this.#intervalSeconds = options.intervalSeconds;
    this.#keys = options.keys;
    this.#clock = options.clock;
  }

  /**
   * The page as the origin has signed it, or null when there is none. Throws when it is not the origin's: others than
   * this write to KV. It counts as fetched when it was signed, so that a copy of an old page stays old.
   */
  async get(canonical: CanonicalRequest): Promise<StoredResponse | null> {
    const key = keyOf(canonical);
    const stored = key === null ? null : await this.#store.get<StoredResponse>(key, "json");
    if (stored === null) return null;
    const body = utf8(stored.body);
    const message = { status: 200, headers: new Headers(stored.headers), body };
    const answer = await readAnswer(message, { canonical, keys: this.#keys, now: this.#clock() });
    if (typeof answer === "string") throw new Error(`${key} cannot be served: ${answer}`);
    const { created, ...signed } = answer;
    return {
      ...signed,
      target: canonical.target,
      generatedAt: signed.generatedAt ?? created,
      fetchedAt: created,
    };
  }

  /** Writes a front page when the interval of its key is over, and over what is not the origin's page at once. */
  async putIfDue(canonical: CanonicalRequest, response: StoredResponse): Promise<void> {
    const key = keyOf(canonical);
    if (key === null) return;
    const dueAt = (this.#lastChecked.get(key) ?? 0) + this.#intervalSeconds;
    if (isBeforeDeadline(dueAt, { now: response.fetchedAt, longest: this.#intervalSeconds })) return;
    this.#lastChecked.set(key, response.fetchedAt); // at once, so that this isolate checks once
    const stored = await this.get(canonical).catch(() => null);
    if (stored !== null && !this.#isDue(response, stored)) return;
    const expirationTtl = Math.max(shortestExpirationTtl, usableSeconds(response.lifetimes));
    await this.#store.put(key, JSON.stringify(response), { expirationTtl });
  }

  #isDue(response: StoredResponse, stored: StoredResponse): boolean {
    return (
      response.generatedAt >= stored.generatedAt &&
      response.fetchedAt >= stored.fetchedAt + this.#intervalSeconds
    );
  }
}

function keyOf(canonical: CanonicalRequest): string | null {
  const name = frontPageName(canonical);
  return name && `${storageNamespace}/${name}`;
}

/** A map with a capacity: when it is full, the entries that were used longest ago go. */
export class LruMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #capacity: number;
  readonly #weigh: (value: V) => number;
  #weight = 0;

  /** `weigh` gives how much of the capacity a value takes; without it the capacity is a number of entries. */
  constructor(capacity: number, weigh: (value: V) => number = () => 1) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  get(key: string): V | null {
    const value = this.#entries.get(key);
    if (value === undefined) return null;
    this.#entries.delete(key); // a Map is in the order of first insertion
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#capacity) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#weight -= this.#weigh(value);
    this.#entries.delete(key);
  }
}
