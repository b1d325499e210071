type Entry<V> = { value: V; weight: number };

/**
 * A cache bounded by weight. What was asked for since the last change of halves stays; when the young half is
 * full, it becomes the old one, and the old one is forgotten. Unlike a least-recently-used list, a look-up
 * moves nothing most of the time.
 */
export class BoundedCache<V> {
  readonly #half: number;
  readonly #weigh: (value: V) => number;
  readonly #forgot: () => void;
  #young = new Map<string, Entry<V>>();
  #old = new Map<string, Entry<V>>();
  #weight = 0; // of the young half

  /** `forgot` is called whenever something was dropped: whoever keeps references has to let go of them. */
  constructor(most: number, { weigh, forgot }: { weigh: (value: V) => number; forgot: () => void }) {
    this.#half = most / 2;
    this.#weigh = weigh;
    this.#forgot = forgot;
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

  /** Keeps a value and weighs it. To be called again when it has become heavier. */
  set(key: string, value: V): void {
    const weight = this.#weigh(value);
    this.#weight += weight - (this.#young.get(key)?.weight ?? 0);
    this.#young.set(key, { value, weight });
    this.#old.delete(key);
    if (this.#weight > this.#half) this.#changeHalves();
  }

  *values(): Generator<V> {
    for (const { value } of this.#young.values()) yield value;
    for (const { value } of this.#old.values()) yield value;
  }

  #changeHalves(): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#weight = 0;
    this.#forgot();
  }
}
