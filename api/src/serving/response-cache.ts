import { Refusal } from "../resources/refusal.ts";
import type { Resource } from "../resources/resource.ts";
import { BuildQueue } from "./build-queue.ts";
import type { Builder } from "./builder.ts";
import { CacheEntry } from "./cache-entry.ts";
import type { Counters } from "./counters.ts";
import type { Representation, SignedRefusal } from "./representation.ts";
import type { SignedBuild } from "./signed-build.ts";
import type { Snapshot } from "./snapshot.ts";
import { TwoGenerationCache } from "./two-generation-cache.ts";

/** A representation that was built for a request. */
type BuiltRepresentation = { entry: CacheEntry; representation: Representation };

export type BuildResult = BuiltRepresentation | SignedRefusal | Refusal;

const usual = { capacityBytes: 9_000_000, queueCapacity: 512 }; // builds
const large = { capacityBytes: 4_000_000, queueCapacity: 8, longestPauseMs: 100 };
const urlCapacity = 4096;
const longestKeptUrl = 400; // characters

/** The representations of the current snapshot, and the one way to build those that are missing. */
export class ResponseCache {
  readonly #builder: Builder;
  readonly #counters: Counters;
  readonly #byUrl = new Map<string, CacheEntry>();
  readonly #usual = createSection(usual, () => this.#byUrl.clear());
  readonly #large = createSection(large, () => {});
  #snapshot: Snapshot | null = null;
  /** Whose answers are served as well, until they are built anew. */
  #replaced: Snapshot | undefined;

  constructor(builder: Builder, counters: Counters) {
    this.#builder = builder;
    this.#counters = counters;
  }

  /** What is served; null until something was published. */
  get snapshot(): Snapshot | null {
    return this.#snapshot;
  }

  /** Serves another snapshot from now on. Entries of the one before are out of date, now or with `endReplacement`. */
  begin(snapshot: Snapshot, { keepsReplaced }: { keepsReplaced: boolean }): void {
    this.#replaced = keepsReplaced ? (this.#snapshot ?? undefined) : undefined;
    this.#snapshot = snapshot;
  }

  /** Serves no entries of the snapshot before any more. */
  endReplacement(): void {
    this.#replaced = undefined;
  }

  /** The entry for a URL as it was received, host included. Undefined when it has to be parsed or built first. */
  lookUp(url: string): CacheEntry | undefined {
    const entry = this.#byUrl.get(url);
    return entry === undefined || !this.#isServed(entry) ? undefined : entry;
  }

  /** Lets the next request with the same URL find its entry without being parsed. */
  remember(url: string, entry: CacheEntry): void {
    if (url.length > longestKeptUrl || isLarge(entry.resource)) return; // parsing is nothing beside half a MB
    if (this.#byUrl.size >= urlCapacity) this.#byUrl.clear();
    this.#byUrl.set(url, entry);
  }

  /** The entry of a resource, unless it is out of date. */
  find(resource: Resource): CacheEntry | undefined {
    const entry = this.#sectionOf(resource).entries.get(resource.url);
    return entry === undefined || !this.#isServed(entry) ? undefined : entry;
  }

  /** Builds what a request waits for, once for all that wait. Null when too many builds are waiting already. */
  build(resource: Resource, encoding: number): Promise<BuildResult> | null {
    return this.#sectionOf(resource).queue.run(`${encoding} ${resource.url}`, () =>
      this.#builder.finish(this.#build(resource, encoding)),
    );
  }

  /** Whether `buildNow` is possible. */
  get canBuildNow(): boolean {
    return this.#builder.isPrepared;
  }

  /** Builds at once; null when that is not possible yet. @throws DatabaseUnreadable when it cannot be read */
  buildNow(resource: Resource, encoding: number): BuildResult | null {
    return this.#builder.finishNow(this.#build(resource, encoding));
  }

  /**
   * The entries that were served most, most first, at most `limit`. Once is no sign of a second time. None that is large: a
   * publication would take longer to be seen.
   */
  busiest(limit: number): CacheEntry[] {
    const served = [...this.#usual.entries.values()].filter(({ hits }) => hits > 1);
    return served.sort((left, right) => right.hits - left.hits).slice(0, limit);
  }

  /** Halves the hits, so that recent ones count more. */
  ageHits(): void {
    for (const entry of this.#usual.entries.values()) entry.hits >>= 1;
  }

  get size(): { entries: number; weight: number; urls: number } {
    const entries = [...this.#usual.entries.values(), ...this.#large.entries.values()];
    const weight = entries.reduce((sum, entry) => sum + entry.weight, 0);
    return { entries: entries.length, weight, urls: this.#byUrl.size };
  }

  #sectionOf(resource: Resource): Section {
    return isLarge(resource) ? this.#large : this.#usual;
  }

  #isServed({ current: { snapshot } }: CacheEntry): boolean {
    return snapshot === this.#snapshot || snapshot === this.#replaced;
  }

  *#refuse(resource: Resource, refusal: Refusal): SignedBuild<Refusal | SignedRefusal> {
    return refusal.isSigned ? yield* this.#builder.refuse(resource, refusal) : refusal;
  }

  // A refusal is not kept: a flood of bad requests would fill the cache.
  *#build(resource: Resource, encoding: number): SignedBuild<BuildResult> {
    const snapshot = this.#snapshot;
    if (snapshot === null) throw new Error("Cannot build an answer before the first snapshot");
    const { entries } = this.#sectionOf(resource);
    const known = entries.get(resource.url);
    const entry = known ?? new CacheEntry(resource, this.#counters.byRoute[resource.route]);
    let set = entry.current;
    if (set.snapshot !== snapshot) {
      const built = yield* this.#builder.build(entry, snapshot, {
        codings: [encoding],
        compression: "fast",
      });
      if (built instanceof Refusal) return yield* this.#refuse(resource, built);
      set = built;
      if (this.#snapshot === snapshot) entry.current = set; // else another one has begun in the meantime
    }
    const representation =
      set.representations[encoding] ?? (yield* this.#builder.extend(resource, set, encoding));
    entries.set(resource.url, entry);
    return { entry, representation };
  }
}

/** Entries that are evicted for each other, and the queue of their builds. */
type Section = { entries: TwoGenerationCache<CacheEntry>; queue: BuildQueue };

/** What is large has a section of its own: a flood of it neither evicts what is small nor makes its builds wait. */
function createSection(
  { capacityBytes, queueCapacity, longestPauseMs }: typeof usual & { longestPauseMs?: number },
  onEvict: () => void,
): Section {
  const weigh = (entry: CacheEntry) => entry.weight;
  return {
    entries: new TwoGenerationCache(capacityBytes, { weigh, onEvict }),
    queue: new BuildQueue(queueCapacity, { longestPauseMs }),
  };
}

function isLarge({ readInSteps }: Resource): boolean {
  return readInSteps !== undefined;
}
