import type { KVNamespace } from "@cloudflare/workers-types";
import { type PublicKeySet, verifyResponse } from "@trendvault/contract/response-signature";
import { type Ask, isFrontPage } from "./ask.ts";
import type { Copy } from "./copy.ts";

const keepSeconds = 7 * 86_400;

/**
 * The last good front page of each region and window, in Workers KV: what a data centre serves when it holds
 * nothing and the origin does not answer.
 */
export class LastResort {
  readonly #store: KVNamespace;
  readonly #everySeconds: number;
  readonly #keys: PublicKeySet;
  readonly #lookedAt = new Map<string, number>();

  /**
   * `everySeconds`: how often a key is written at most, by all data centres together, give or take KV's delay.
   * `keys`: what a page has to be signed with.
   */
  constructor(store: KVNamespace, { everySeconds, keys }: { everySeconds: number; keys: PublicKeySet }) {
    this.#store = store;
    this.#everySeconds = everySeconds;
    this.#keys = keys;
  }

  /** The page, or null when there is none. Throws when it is not the origin's: KV has other writers than this. */
  async read(ask: Ask): Promise<Copy | null> {
    const key = keyOf(ask);
    const copy = key === null ? null : await this.#store.get<Copy>(key, "json");
    if (copy === null) return null;
    if (copy.target !== ask.target) throw new Error(`${key} holds something else`);
    const signature = await verifyResponse(
      {
        status: 200,
        headers: new Headers(copy.fields),
        body: new Uint8Array(new TextEncoder().encode(copy.body)),
      },
      this.#keys,
    );
    if (signature !== "valid") throw new Error(`the signature of ${key} is not good: ${signature}`);
    return copy;
  }

  /** Writes a front page of a newer generation, when its key's turn has come. */
  async offer(ask: Ask, copy: Copy): Promise<void> {
    const key = keyOf(ask);
    if (key === null || copy.checkedAt < (this.#lookedAt.get(key) ?? 0) + this.#everySeconds) return;
    this.#lookedAt.set(key, copy.checkedAt); // at once, so that this isolate looks once
    const held = await this.#store.get<Copy>(key, "json");
    if (held !== null && !this.#isDue(copy, held)) return;
    await this.#store.put(key, JSON.stringify(copy), { expirationTtl: keepSeconds });
  }

  #isDue(copy: Copy, held: Copy): boolean {
    return copy.generatedAt > held.generatedAt && copy.checkedAt >= held.checkedAt + this.#everySeconds;
  }
}

// Another form of Copy needs another prefix: what is stored outlives a deployment.
function keyOf({ query }: Ask): string | null {
  return query !== null && isFrontPage(query) ? `copies-1/${query.region}/${query.window}` : null;
}
