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
