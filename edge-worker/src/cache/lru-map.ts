/** A map with a capacity: when it is full, the entry that was used longest ago goes. */
export class LruMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): V | null {
    const value = this.#entries.get(key);
    if (value === undefined) return null;
    this.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key); // a Map is in the order of first insertion
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
