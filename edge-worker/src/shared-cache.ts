import type { Copy } from "./copy.ts";

/** Another form of Copy needs another name: what is stored outlives a deployment. */
const name = "copies-1";

/** The copies of this data centre, shared by its isolates (Cache API). It never decides about freshness. */
export class SharedCache {
  readonly #base: URL;

  /** `base` makes URLs of targets; with the origin's, a copy can be purged by its URL. */
  constructor(base: URL) {
    this.#base = base;
  }

  async read(target: string): Promise<Copy | null> {
    const cache = await caches.open(name);
    const response = await cache.match(new URL(target, this.#base));
    return response === undefined ? null : response.json();
  }

  /**
   * The cache ignores stale-while-revalidate and stale-if-error, so a copy is stored for as long as it could
   * be of any use; freshness.ts decides from the times inside.
   */
  async write(copy: Copy): Promise<void> {
    const { fresh, stale, staleIfError } = copy.lifetimes;
    const headers = { "cache-control": `max-age=${fresh + Math.max(stale, staleIfError)}` };
    const cache = await caches.open(name);
    await cache.put(new URL(copy.target, this.#base), Response.json(copy, { headers }));
  }
}
