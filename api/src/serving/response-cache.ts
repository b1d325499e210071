import { Refusal, type Resource } from "../resources/resource.ts";
import { type Builder, CacheEntry, type Snapshot, yieldToEventLoop } from "./builder.ts";
import type { Counters } from "./counters.ts";
import type { Representation, SignedBuild, SignedRefusal } from "./representation.ts";

/** A representation that was built for a request. */
type BuiltRepresentation = { entry: CacheEntry; representation: Representation };

type BuildResult = BuiltRepresentation | SignedRefusal | Refusal;

// Until then there is no pause: a page and its assets take some 40 ms, which no visitor waits for three times.
const usual = {
  capacity: 9_000_000, // bytes
  onceCapacity: 1_000_000,
  queueCapacity: 512, // builds
  pauses: { afterMs: 60, times: 2, longestMs: 20 },
};
// An export's steps are the longest: with pauses of twice their time, a flood doubled the p99 of what is in the cache.
const large = {
  capacity: 4_000_000,
  onceCapacity: 0,
  queueCapacity: 8,
  pauses: { afterMs: 0, times: 6, longestMs: 250 },
};
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

  /** The entry for a URL as it was received. Undefined when it has to be parsed or built first. */
  lookUp(url: string): CacheEntry | undefined {
    const entry = this.#byUrl.get(url);
    return entry === undefined || !this.#isServed(entry) ? undefined : entry;
  }

  /** Lets the next request with the same URL find its entry, which `find` gave, without being parsed. */
  remember(url: string, entry: CacheEntry): void {
    if (url.length > longestKeptUrl || isHeavy(entry)) return; // parsing is nothing beside half a MB
    if (this.#byUrl.size >= urlCapacity) this.#byUrl.clear();
    this.#byUrl.set(url, entry);
  }

  /** The entry of a resource, unless it is out of date. */
  find(resource: Resource): CacheEntry | undefined {
    const entry = this.#known(resource);
    return entry === undefined || !this.#isServed(entry) ? undefined : entry;
  }

  /**
   * Builds what requests wait for, once for all of them. Null when too many builds are waiting already. @throws
   * DatabaseUnreadable when it cannot be read
   */
  build(resource: Resource, encoding: number): Promise<BuildResult> | null {
    const { queue } = isLarge(resource) ? this.#large : this.#usual;
    return queue.run(`${encoding} ${resource.url}`, () =>
      this.#builder.finish(this.#build(resource, encoding), skipTurn),
    );
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
    for (const entry of this.#usual.entries.values()) entry.ageHits();
  }

  /** Lets go of what was neither requested nor built ahead since a minute (Unix time / 60), and gives its bytes. */
  forgetBefore(minute: number): number {
    for (const entry of this.#usual.entries.values()) entry.endMinute();
    const isForgotten = ({ current: { snapshot } }: CacheEntry) =>
      snapshot === null || snapshot.minute < minute;
    return this.#usual.entries.evictAll(isForgotten) + this.#large.entries.evictAll(isForgotten);
  }

  get size(): { entries: number; weight: number; urls: number } {
    const entries = [...this.#usual.entries.values(), ...this.#large.entries.values()];
    const weight = entries.reduce((sum, entry) => sum + entry.weight, 0);
    return { entries: entries.length, weight, urls: this.#byUrl.size };
  }

  #known({ url }: Resource): CacheEntry | undefined {
    return this.#usual.entries.get(url) ?? this.#large.entries.get(url);
  }

  /** What is heavy would drive everything else out of the section of what is not. */
  #keep(entry: CacheEntry): void {
    const { url } = entry.resource;
    const [section, other] = isHeavy(entry) ? [this.#large, this.#usual] : [this.#usual, this.#large];
    if (other.entries.delete(url)) this.#byUrl.clear();
    section.entries.set(url, entry);
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
    const entry = this.#known(resource) ?? new CacheEntry(resource, this.#counters.byRoute[resource.route]);
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
    this.#keep(entry);
    return { entry, representation };
  }
}

/** Entries that are evicted for each other, and the queue of their builds. */
type Section = { entries: TwoQueueCache<CacheEntry>; queue: BuildQueue };

/** What is large has a section of its own: a flood of it neither evicts what is small nor makes its builds wait. */
function createSection(
  { capacity, onceCapacity, queueCapacity, pauses }: typeof usual,
  onEvict: () => void,
): Section {
  const weigh = (entry: CacheEntry) => entry.weight;
  return {
    entries: new TwoQueueCache({ capacity, onceCapacity, weigh, onEvict }),
    queue: new BuildQueue(queueCapacity, { pauses }),
  };
}

function isLarge({ readInSteps }: Resource): boolean {
  return readInSteps !== undefined;
}

function isHeavy(entry: CacheEntry): boolean {
  return isLarge(entry.resource) || entry.weight > usual.onceCapacity;
}

/** Values with what they weighed last, oldest first, and the sum of it. */
class WeighedMap<V> {
  readonly #weighed = new Map<string, { value: V; weight: number }>();
  weight = 0;

  get(key: string): V | undefined {
    return this.#weighed.get(key)?.value;
  }

  has(key: string): boolean {
    return this.#weighed.has(key);
  }

  set(key: string, value: V, weight: number): void {
    this.weight += weight - (this.#weighed.get(key)?.weight ?? 0);
    this.#weighed.set(key, { value, weight });
  }

  delete(key: string): boolean {
    this.weight -= this.#weighed.get(key)?.weight ?? 0;
    return this.#weighed.delete(key);
  }

  keys(): Iterable<string> {
    return this.#weighed.keys();
  }

  *entries(): Generator<[string, V]> {
    for (const [key, { value }] of this.#weighed) yield [key, value];
  }
}

type CacheOptions<V> = {
  /** Of all values. */
  capacity: number;
  /** Of those that were asked for once. What weighs more is not held back. */
  onceCapacity: number;
  weigh: (value: V) => number;
  /** Is called after evictions, but those from the queue: other references to the values have to go, too. */
  onEvict: () => void;
};

const mostRemembered = 1000; // keys

/**
 * A cache bounded by weight, from which a flood of what is asked for once evicts nothing that is asked for again. What
 * is new waits in a queue; what is asked for while it is there, or not long after, comes to the others (2Q, Johnson and
 * Shasha, VLDB 1994). These are in two generations: when the young one is full, it becomes the old one, and what was in
 * the old one is evicted. A value that is looked up moves to the young one. Unlike in a least-recently-used list, most
 * look-ups move nothing.
 */
export class TwoQueueCache<V> {
  readonly #options: CacheOptions<V>;
  readonly #once = new WeighedMap<V>();
  #young = new WeighedMap<V>();
  #old = new WeighedMap<V>();
  /** The keys of what the queue had no more room for. */
  readonly #remembered = new Set<string>();

  constructor(options: CacheOptions<V>) {
    this.#options = options;
  }

  /** Before it was looked up, only the cache may refer to a value. */
  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const other = this.#old.get(key) ?? this.#once.get(key);
    if (other !== undefined) this.#keep(key, other);
    return other;
  }

  /** Keeps a value and weighs it. Call it again when the value has become heavier. */
  set(key: string, value: V): void {
    const wasAskedFor = this.#young.has(key) || this.#old.has(key) || this.#remembered.delete(key);
    const { weigh, onceCapacity } = this.#options;
    if (wasAskedFor || weigh(value) > onceCapacity) this.#keep(key, value);
    else this.#queue(key, value);
  }

  *values(): Generator<V> {
    for (const part of [this.#once, this.#young, this.#old])
      for (const [, value] of part.entries()) yield value;
  }

  /** Gives whether there was one. */
  delete(key: string): boolean {
    return [this.#once, this.#young, this.#old].some((part) => part.delete(key));
  }

  /** Evicts the values that are selected, and gives their weight. */
  evictAll(isSelected: (value: V) => boolean): number {
    const parts = [this.#once, this.#young, this.#old];
    const weigh = () => parts.reduce((sum, { weight }) => sum + weight, 0);
    const before = weigh();
    for (const part of parts)
      for (const [key, value] of part.entries()) if (isSelected(value)) part.delete(key);
    const evicted = before - weigh();
    if (evicted > 0) this.#options.onEvict();
    return evicted;
  }

  #queue(key: string, value: V): void {
    const { weigh, onceCapacity } = this.#options;
    this.#once.set(key, value, weigh(value));
    for (const oldest of this.#once.keys()) {
      if (this.#once.weight <= onceCapacity) break;
      this.#once.delete(oldest);
      this.#remembered.add(oldest);
    }
    for (const oldest of this.#remembered) {
      if (this.#remembered.size <= mostRemembered) break;
      this.#remembered.delete(oldest);
    }
  }

  #keep(key: string, value: V): void {
    const { weigh, capacity, onceCapacity } = this.#options;
    this.#once.delete(key);
    this.#old.delete(key);
    this.#young.set(key, value, weigh(value));
    if (this.#young.weight > (capacity - onceCapacity) / 2) this.#evict();
  }

  #evict(): void {
    this.#old = this.#young;
    this.#young = new WeighedMap();
    this.#options.onEvict();
  }
}

const shortestPauseMs = 1; // a collection of what builds leave behind takes more

/** Who comes in the turn between two steps waits for one of them, and not for both. */
async function skipTurn(): Promise<void> {
  await yieldToEventLoop();
  await yieldToEventLoop();
}

type QueueOptions = {
  yieldTurn?: () => Promise<void>;
  pause?: (milliseconds: number) => Promise<void>;
  /**
   * How many times as long as a job is the pause after it, and no longer than that many milliseconds; none before jobs have
   * gone on for `afterMs`.
   */
  pauses?: { afterMs: number; times: number; longestMs: number };
};

/**
 * Does the expensive work one job at a time, and a job a step at a time (see builder.ts), so that a flood of cold
 * requests cannot make the warm ones wait for more than one step, and takes a part of the time that the pauses between
 * jobs decide. A key that is already waiting, or being worked on, is not queued again (single-flight).
 */
export class BuildQueue {
  readonly #capacity: number;
  readonly #yieldTurn: () => Promise<void>;
  readonly #pause: NonNullable<QueueOptions["pause"]>;
  readonly #pauses: Required<QueueOptions>["pauses"];
  readonly #waiting = new Map<string, { run: () => Promise<void>; result: Promise<unknown> }>();

  /** `yieldTurn` comes before each job, `pause` between two. */
  constructor(
    capacity: number,
    {
      yieldTurn = yieldToEventLoop,
      pause = (milliseconds) => Bun.sleep(milliseconds),
      pauses = usual.pauses, // what took longer has waited for others
    }: QueueOptions = {},
  ) {
    this.#capacity = capacity;
    this.#yieldTurn = yieldTurn;
    this.#pause = pause;
    this.#pauses = pauses;
  }

  /** The job's result, or null when too many are waiting. Jobs of one key must have one result type. */
  run<T>(key: string, job: () => Promise<T>): Promise<T> | null {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting.result as Promise<T>;
    if (this.#waiting.size >= this.#capacity) return null;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.set(key, { run: () => job().then(resolve, reject), result: promise });
    if (this.#waiting.size === 1) void this.#drain();
    return promise;
  }

  async #drain(): Promise<void> {
    const began = performance.now();
    for (const [key, { run }] of this.#waiting) {
      await this.#yieldTurn();
      const started = performance.now();
      await run();
      const ended = performance.now();
      this.#waiting.delete(key);
      const { afterMs, times, longestMs } = this.#pauses;
      if (this.#waiting.size > 0 && ended - began > afterMs)
        await this.#pause(Math.min(longestMs, Math.max(shortestPauseMs, times * (ended - started))));
    }
  }
}
