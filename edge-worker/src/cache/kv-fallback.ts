import type { KVNamespace } from "@cloudflare/workers-types";
import type { PublicKeySet } from "@trendvault/contract/keys";
import { readAnswer } from "../origin/read-answer.ts";
import { type StoredResponse, storageNamespace } from "../origin/stored-response.ts";
import { type CanonicalRequest, isFrontPage, isPage } from "../rules/canonical-request.ts";
import { usableSeconds } from "../rules/lifetimes.ts";
import { isStillAhead } from "../rules/still-ahead.ts";
import { utf8 } from "../rules/utf8.ts";

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
  async get(request: CanonicalRequest): Promise<StoredResponse | null> {
    const key = keyOf(request);
    const stored = key === null ? null : await this.#store.get<StoredResponse>(key, "json");
    if (stored === null) return null;
    const body = utf8(stored.body);
    const message = { status: 200, headers: new Headers(stored.headers), body };
    const answer = await readAnswer(message, { request, keys: this.#keys, now: this.#clock() });
    if (typeof answer === "string") throw new Error(`${key} cannot be served: ${answer}`);
    const { created, ...signed } = answer;
    return {
      ...signed,
      target: request.target,
      generatedAt: signed.generatedAt ?? created,
      fetchedAt: created,
    };
  }

  /** Writes a front page when the interval of its key is over, and over what is not the origin's page at once. */
  async putIfDue(request: CanonicalRequest, response: StoredResponse): Promise<void> {
    const key = keyOf(request);
    if (key === null) return;
    const dueAt = (this.#lastChecked.get(key) ?? 0) + this.#intervalSeconds;
    if (isStillAhead(dueAt, { now: response.fetchedAt, longest: this.#intervalSeconds })) return;
    this.#lastChecked.set(key, response.fetchedAt); // at once, so that this isolate checks once
    const stored = await this.get(request).catch(() => null);
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

function keyOf(request: CanonicalRequest): string | null {
  const { query } = request;
  if (query === null || !isFrontPage(query)) return null;
  return `${storageNamespace}/${query.region}/${query.window}${isPage(request) ? "/page" : ""}`;
}
