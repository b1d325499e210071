import { dirname } from "node:path";

type Stored = { key: string; etag: string; body: Buffer };

const most = 200;
const mostBytes = 64 * 2 ** 20;

/** What was put through the proxy, so that an older or another object can be served in place of the one asked for. */
export class RememberedObjects {
  #objects: Stored[] = [];
  #bytes = 0;

  add(object: Stored): void {
    this.#objects.push(object);
    this.#bytes += object.body.length;
    while (this.#objects.length > most || this.#bytes > mostBytes)
      this.#bytes -= this.#objects.shift()?.body.length ?? 0;
  }

  /** The oldest that was stored under the key. */
  oldest(key: string): Stored | null {
    return this.#objects.find((object) => object.key === key) ?? null;
  }

  /** The newest that was stored in the same folder under another key. */
  neighbour(key: string): Stored | null {
    const isNeighbour = (object: Stored) => object.key !== key && dirname(object.key) === dirname(key);
    return this.#objects.findLast(isNeighbour) ?? null;
  }
}
