import type { Logger } from "../log/logger.ts";
import { isNewer, type StoredResponse } from "../origin/stored-response.ts";
import type { DataCentreCache } from "./data-centre-cache.ts";
import { LruMap } from "./lru-map.ts";
import { cacheNotRead, nullOnError } from "./null-on-error.ts";
import { SingleFlight } from "./single-flight.ts";

type SharedCache = Pick<DataCentreCache, "match" | "put">;

const memoryCapacity = 40_000_000; // bytes; an isolate has 128 MB
const readTimeoutSeconds = 1;

/** Two tiers: this isolate's memory, and the data centre's cache, which its isolates share. */
export class TieredCache {
  readonly #memory = new LruMap<StoredResponse>(memoryCapacity, weigh);
  readonly #reads = new SingleFlight<StoredResponse | null>(readTimeoutSeconds);
  readonly #dataCentre: SharedCache;
  readonly #log: Logger;

  constructor(dataCentre: SharedCache, log: Logger) {
    this.#dataCentre = dataCentre;
    this.#log = log;
  }

  /** The response in memory, else the data centre's. */
  async match(target: string): Promise<StoredResponse | null> {
    return this.#memory.get(target) ?? this.matchNewest(target);
  }

  /** The newer of the responses in memory and in the data centre's cache. */
  async matchNewest(target: string): Promise<StoredResponse | null> {
    const read = () => nullOnError(this.#dataCentre.match(target), this.#log, cacheNotRead);
    const { value: shared } = await this.#reads.run(target, read);
    const local = this.#memory.get(target);
    if (shared === null || (local !== null && !isNewer(shared, local))) return local;
    this.#memory.set(target, shared);
    return shared;
  }

  /** Serves the response from now on; resolves when the data centre's other isolates have it too. */
  async put(response: StoredResponse): Promise<void> {
    this.#memory.set(response.target, response);
    await this.#dataCentre.put(response);
  }
}

// A page is some 60 KB, a list 10 KB. A text with an emoji takes two bytes for each character; the fields take the rest.
function weigh({ body }: StoredResponse): number {
  return body.length * 2 + 4096;
}
