const cacheName = "bundles-1";

/** What is logged when such bytes cannot be put there. */
export const notShared = {
  event: "bundle_not_stored",
  message: "A part of a bundle could not be cached.",
};

/** Bytes that the isolates of this data centre share (Cache API), by name. */
export class SharedBytes {
  readonly #base: URL;
  readonly #prefix: string;

  /** `base` makes URLs of names, which are those of one store: of the one with the prefix. */
  constructor(base: URL, prefix: string) {
    this.#base = base;
    this.#prefix = prefix;
  }

  async match(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const cache = await caches.open(cacheName);
    const response = await cache.match(this.#urlOf(name));
    return response === undefined ? null : new Uint8Array(await response.arrayBuffer());
  }

  async put(name: string, bytes: Uint8Array<ArrayBuffer>, seconds: number): Promise<void> {
    const headers = { "cache-control": `max-age=${seconds}` };
    const cache = await caches.open(cacheName);
    await cache.put(this.#urlOf(name), new Response(bytes, { headers }));
  }

  async delete(name: string): Promise<void> {
    const cache = await caches.open(cacheName);
    await cache.delete(this.#urlOf(name));
  }

  #urlOf(name: string): URL {
    return new URL(`/bundles/${this.#prefix}/${name}`, this.#base);
  }
}
