import { type StoredResponse, storageNamespace } from "../origin/stored-response.ts";
import { usableSeconds } from "../rules/lifetimes.ts";

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
   * could be of any use; freshness.ts decides from the times inside.
   */
  async put(response: StoredResponse): Promise<void> {
    const headers = { "cache-control": `max-age=${usableSeconds(response.lifetimes)}` };
    const cache = await caches.open(storageNamespace);
    await cache.put(new URL(response.target, this.#base), Response.json(response, { headers }));
  }
}
