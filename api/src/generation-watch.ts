import type { Generation } from "./generation.ts";
import { Store } from "./store.ts";

/** Looks for a newly published generation: call `look` a few times a second. */
export class GenerationWatch {
  #store: Store;
  #seen = Number.NaN;
  #newest: Generation | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  get store(): Store {
    return this.#store;
  }

  /** The newest generation; the same object for as long as it is the newest. Throws when the database fails. */
  look(): Generation | null {
    if (this.#store.isReplaced()) this.#reopen();
    const dataVersion = this.#store.dataVersion();
    if (dataVersion === this.#seen) return this.#newest;
    const newest = this.#store.newestGeneration();
    if (newest?.id !== this.#newest?.id || newest?.publishedAt !== this.#newest?.publishedAt)
      this.#newest = newest;
    this.#seen = dataVersion;
    return this.#newest;
  }

  // data_version belongs to a connection: a new one counts from its own beginning.
  #reopen(): void {
    const store = Store.open(this.#store.path);
    this.#store.close();
    this.#store = store;
    this.#seen = Number.NaN;
    this.#newest = null;
  }
}
