type Weighed<V> = { value: V; weight: number };

/**
 * A cache bounded by weight, in two generations: when the young one is full, it becomes the old one, and what was in
 * the old one is evicted. A value that is looked up moves to the young one. Unlike in a least-recently-used list, most
 * look-ups move nothing.
 */
export class TwoGenerationCache<V> {
  readonly #youngCapacity: number;
  readonly #weigh: (value: V) => number;
  readonly #onEvict: () => void;
  #young = new Map<string, Weighed<V>>();
  #old = new Map<string, Weighed<V>>();
  #youngWeight = 0;

  /** `onEvict` is called after evictions: other references to the values have to go, too. */
  constructor(capacity: number, options: { weigh: (value: V) => number; onEvict: () => void }) {
    this.#youngCapacity = capacity / 2;
    this.#weigh = options.weigh;
    this.#onEvict = options.onEvict;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.set(key, old.value);
    return old.value;
  }

  /** Keeps a value and weighs it. Call it again when the value has become heavier. */
  set(key: string, value: V): void {
    const weight = this.#weigh(value);
    this.#youngWeight += weight - (this.#young.get(key)?.weight ?? 0);
    this.#young.set(key, { value, weight });
    this.#old.delete(key);
    if (this.#youngWeight > this.#youngCapacity) this.#evict();
  }

  *values(): Generator<V> {
    for (const { value } of this.#young.values()) yield value;
    for (const { value } of this.#old.values()) yield value;
  }

  #evict(): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngWeight = 0;
    this.#onEvict();
  }
}
