import type { PublicKey, PublicKeySet } from "@trendvault/contract/keys";
import { edgeLifetimes } from "@trendvault/contract/lists";
import { paths, videoIdAt } from "@trendvault/contract/paths";
import type { BundlePointer } from "@trendvault/contract/pointer";
import { type ListRefusal, listRefusals, type TrendingQuery } from "@trendvault/contract/queries";
import type { About, RegionList } from "@trendvault/contract/responses";
import { type BundleReader, BundleSource, logFailure } from "./bundle-source.ts";
import { type Bucket, BundleStore, publishedAt, sharedByDataCentre } from "./bundle-store.ts";
import { DocumentSigner } from "./document-signer.ts";
import type { Backoff, Held, SourceAnswer, WaitUntil } from "./document-source.ts";
import type { Logger } from "./log.ts";
import { type CanonicalRequest, freshnessAt } from "./policy.ts";
import { isNewer, type SignedAnswer, type StoredResponse } from "./signed-answer.ts";
import { timeLimit } from "./single-flight.ts";

type Options = {
  bucket: Bucket;
  /** One for each writer that shares the regions with others: what its names begin with, and what the writer calls it. */
  stores: { prefix: string; name: string }[];
  /** Of the key that the edge signs with; null: there is none. */
  signingSeed: Uint8Array | null;
  /** What documents and pointers have to be signed with. */
  keys: PublicKeySet;
  /** For a document, all reads of the bucket together. */
  timeoutSeconds: number;
  backoff: Backoff;
  /** Makes addresses of what the data centre caches. */
  base: URL;
  /** Whether there is no origin. */
  isOnly: boolean;
  /** Unix seconds. */
  clock: () => number;
  log: Logger;
};

/** What reads bundles, and the keys that the edge signs tokens with. */
type BundleReaders = { source: BundleReader; tokenKeys: Promise<PublicKey[]> };

/** `sharedOf`: what isolates share of a store, by its prefix: the data centre's cache, unless another is given. */
export function createBundleReaders(
  options: Options,
  sharedOf = (prefix: string) => sharedByDataCentre(options.base, prefix),
): BundleReaders {
  const { signingSeed } = options;
  const signer = signingSeed && DocumentSigner.create(signingSeed);
  const sources = options.stores.map(({ prefix, name }) => {
    const store = new BundleStore({ ...options, prefix, store: name, shared: sharedOf(prefix) });
    return new BundleSource({ ...options, store, signer });
  });
  const [only, ...others] = sources;
  if (only === undefined) throw new Error("Cannot read bundles of no store");
  const tokenKeys = signer === null ? Promise.resolve([]) : signer.then(({ tokenKey }) => [tokenKey]);
  return { source: others.length === 0 ? only : new JoinedSource(sources, options), tokenKeys };
}

/** A store as it is now. `regions`: whose lists it has; null: of all. `until`: Unix seconds. */
type OpenStore = { source: BundleSource; pointer: BundlePointer; regions: string[] | null; until: number };

/**
 * The bundles of several stores: what is of a region comes from the store that has it, a video from one that knows it,
 * and what is said of all regions is joined and signed here.
 */
class JoinedSource implements BundleReader {
  readonly #sources: readonly BundleSource[];
  readonly #options: Pick<Options, "timeoutSeconds" | "clock" | "log">;
  readonly #known = new Map<BundleSource, OpenStore>();

  /** At least one. */
  constructor(sources: readonly BundleSource[], options: Pick<Options, "timeoutSeconds" | "clock" | "log">) {
    this.#sources = sources;
    this.#options = options;
  }

  get waitsUntil(): number | null {
    const all = this.#sources.map(({ waitsUntil }) => waitsUntil);
    return all.includes(null) ? null : Math.min(...all.map((until) => until ?? 0));
  }

  async read(canonical: CanonicalRequest, held: Held): Promise<SourceAnswer> {
    const { timeoutSeconds, log } = this.#options;
    try {
      return await timeLimit(timeoutSeconds)(this.#read(canonical, held));
    } catch (error) {
      return logFailure(log, canonical, error);
    }
  }

  async readRanks(query: TrendingQuery, place: { generation: number; block: number }, waitUntil: WaitUntil) {
    const found = await this.#find(query.region, waitUntil).catch(() => null); // its source logs that
    return found === null ? null : found.source.readRanks(query, place, waitUntil);
  }

  async #read(canonical: CanonicalRequest, held: Held): Promise<SourceAnswer> {
    const region = regionOf(canonical);
    if (region !== null) {
      const found = await this.#find(region, held.waitUntil);
      return found === null ? this.#refuse(unpublishedRegion) : this.#readOfRegion(canonical, found, held);
    }
    const opened = await this.#openAll(held.waitUntil);
    if (canonical.target in joins) return this.#join(canonical, opened, held);
    const known = opened.find(({ pointer }) => pointer.generation === held.stored?.bundle);
    if (known !== undefined) return known.source.read(canonical, held);
    if (videoIdAt(canonical.target) === null) return opened[0].source.read(canonical, held);
    return this.#readOfAny(canonical, opened, held);
  }

  async #readOfRegion(canonical: CanonicalRequest, found: OpenStore, held: Held): Promise<SourceAnswer> {
    const { source, pointer } = found;
    const isKnown = held.stored?.bundle === pointer.generation;
    if (!isKnown && dependsOnCategory(canonical)) {
      if (!(await held.mayRead())) return { kind: "rate-limited" };
      const refusal = await this.#refuseCategory(canonical, found, held);
      if (refusal !== null) return this.#refuse(refusal);
    }
    return source.read(canonical, held);
  }

  /** From a store that has the document; from the one that published last when none has it. */
  async #readOfAny(
    canonical: CanonicalRequest,
    opened: readonly [OpenStore, ...OpenStore[]],
    held: Held,
  ): Promise<SourceAnswer> {
    if (!(await held.mayRead())) return { kind: "rate-limited" };
    for (const { source, pointer } of opened) {
      const answer = await source.store.read(canonical, pointer, held.waitUntil);
      if (answer !== null) return source.read(canonical, held);
    }
    return opened[0].source.read(canonical, held);
  }

  async #join(
    canonical: CanonicalRequest,
    opened: readonly [OpenStore, ...OpenStore[]],
    held: Held,
  ): Promise<SourceAnswer> {
    const until = Math.min(...opened.map((open) => open.until));
    const mark = opened.reduce((sum, { pointer }) => sum + pointer.generation, 0); // rises with each of them
    if (held.stored?.bundle === mark) return { kind: "unchanged", until };
    if (!(await held.mayRead())) return { kind: "rate-limited" };
    const answers = await this.#readAll(canonical, opened, held);
    const [first, ...others] = answers;
    if (first !== undefined && others.every(({ body }) => body === first.body)) {
      return opened[0].source.read(canonical, held);
    }
    const [{ source, pointer }] = opened;
    const signer = await source.signer.find(pointer, held.waitUntil);
    if (signer === null) return { kind: "refused", refusal: unsigned, until };
    const documents: object[] = answers.map((answer) => JSON.parse(answer.body));
    const body = JSON.stringify(joinDocuments(canonical.target, documents));
    const contentType =
      canonical.target === paths.publicKeys ? "application/jwk-set+json" : "application/json";
    const document = { status: 200, contentType, body, lifetimes: edgeLifetimes.answer } as const;
    const fetchedAt = Math.max(...answers.map((answer) => answer.created));
    const { created, ...signed } = await signer.signDocument(document, { canonical, now: fetchedAt });
    const times = { generatedAt: signed.generatedAt ?? fetchedAt, fetchedAt, bundle: mark };
    return this.#take({ ...signed, ...times, target: canonical.target }, held, until);
  }

  #readAll(
    canonical: CanonicalRequest,
    opened: readonly [OpenStore, ...OpenStore[]],
    { waitUntil }: Held,
  ): Promise<SignedAnswer[]> {
    return Promise.all(
      opened.map(async ({ source, pointer }) => {
        const answer = await source.store.read(canonical, pointer, waitUntil);
        if (answer === null) throw new Error(`${source.store.prefix}: it is not in the bundle`);
        return answer;
      }),
    );
  }

  #take(response: StoredResponse, { stored }: Held, until: number): SourceAnswer {
    if (freshnessAt(this.#options.clock(), response) === "unusable")
      throw new Error("all are too old to be served");
    if (stored !== null && !isNewer(response, stored)) return { kind: "unchanged", until };
    return { kind: "response", response };
  }

  /** A category may have lists in the regions of another store only. */
  async #refuseCategory(
    { query }: CanonicalRequest,
    { source, pointer }: OpenStore,
    { waitUntil }: Held,
  ): Promise<ListRefusal | null> {
    const answer = await source.store.read(regionList, pointer, waitUntil);
    const { categories } = JSON.parse(answer?.body ?? '{"categories":[]}') as RegionList;
    return categories.includes(query?.category ?? "") ? null : listRefusals.unknownCategory(categories);
  }

  #refuse(refusal: ListRefusal): SourceAnswer {
    return { kind: "refused", refusal, until: this.#options.clock() + refusedSeconds };
  }

  /** All of them, the one that published last first. @throws Error that names one that could never be read */
  async #openAll(waitUntil: WaitUntil): Promise<[OpenStore, ...OpenStore[]]> {
    const opened = await Promise.all(this.#sources.map((source) => this.#open(source, waitUntil)));
    const sorted = opened.toSorted((left, right) => publishedAt(right.pointer) - publishedAt(left.pointer));
    return sorted as [OpenStore, ...OpenStore[]];
  }

  /**
   * The store of a region: of several that have it, the one with the largest number. Null when no store has it. @throws
   * Error when that is not known
   */
  async #find(region: string, waitUntil: WaitUntil): Promise<OpenStore | null> {
    const opened = await Promise.allSettled(this.#sources.map((source) => this.#open(source, waitUntil)));
    const having = opened
      .flatMap((one) => (one.status === "fulfilled" ? one.value : []))
      .filter(({ regions }) => regions?.includes(region) ?? true)
      .toSorted((left, right) => right.pointer.generation - left.pointer.generation);
    const [found] = having;
    const failed = opened.find((one) => one.status === "rejected");
    if (found === undefined && failed !== undefined) throw failed.reason;
    return found ?? null;
  }

  // What a store had stays true enough to find it by, while it cannot be read.
  async #open(source: BundleSource, waitUntil: WaitUntil): Promise<OpenStore> {
    try {
      const { pointer, until } = await source.store.pointers.current(waitUntil);
      const regions = await source.store.regionsOf(pointer, waitUntil);
      const open = { source, pointer, regions, until };
      this.#known.set(source, open);
      return open;
    } catch (error) {
      const known = this.#known.get(source);
      if (known !== undefined) return known;
      throw new Error(`${source.store.prefix}: ${(error as Error).message}`, { cause: error });
    }
  }
}

const refusedSeconds = 5;

const regionList: CanonicalRequest = { target: paths.regions, query: null, regionFromCountry: false };

const unpublishedRegion: ListRefusal = {
  kind: "not-found",
  detail: "No list of this region has been published here.",
  extras: {},
};

const unsigned: ListRefusal = {
  kind: "not-ready",
  detail: "Joined documents of several writers need a key to be signed with: EDGE_SIGNING_KEY is missing.",
  extras: {},
};

function dependsOnCategory({ query }: CanonicalRequest): boolean {
  return query?.category !== undefined && query.cursor === undefined;
}

/** Whose list, page, feed or explanation is asked for; null for what is of no region. */
function regionOf({ query, target }: CanonicalRequest): string | null {
  return query?.region ?? new URLSearchParams(target.split("?")[1]).get("region");
}

/** What is said of all regions, by its path: it is made of what each writer says. */
const joins: Record<string, (documents: never[]) => object> = {
  [paths.regions]: joinRegionLists,
  [paths.about]: joinAbouts,
  [paths.publicKeys]: joinKeySets,
};

/** What several writers say at a path of `joins`, joined as the origin joins it. At least one says it. */
export function joinDocuments<T extends object>(path: string, documents: readonly T[]): T {
  return joins[path]?.(documents as never[]) as T;
}

// Each has some of the regions.
function joinRegionLists(lists: readonly RegionList[]): RegionList {
  const newest = lastPublished(lists);
  return {
    generation: newest.generation,
    oldest_generation: Math.min(...lists.map(({ oldest_generation }) => oldest_generation)),
    generated_at: newest.generated_at,
    categories: [...new Set(lists.flatMap(({ categories }) => categories))].sort(),
    regions: newest.regions.map((region) =>
      lists
        .flatMap(({ regions }) => regions.find(({ code }) => code === region.code) ?? [])
        .reduce(newerRegion, region),
    ),
  };
}

/** How all lists are made: what holds for any of them. */
function joinAbouts(abouts: readonly About[]): About {
  const newest = lastPublished(abouts);
  const all = abouts.toSorted((left, right) => left.generation - right.generation);
  const sources = all.flatMap((about) => about.sources ?? []).map((source) => JSON.stringify(source));
  return {
    ...newest,
    formula: [...new Set(all.flatMap(({ formula }) => formula.split(", ")))].join(", "),
    sources: sources.length === 0 ? null : [...new Set(sources)].map((source) => JSON.parse(source)),
    explore_share: largest(all.map(({ explore_share }) => explore_share)),
    removed_videos: largest(all.map(({ removed_videos }) => removed_videos)),
    impressions_counted: all.some(({ impressions_counted }) => impressions_counted),
  };
}

/** All keys, each once. */
function joinKeySets(sets: readonly PublicKeySet[]): PublicKeySet {
  const keys = sets.flatMap((set) => set.keys);
  return { keys: [...new Map(keys.map((key) => [JSON.stringify([key.kid, key.purpose]), key])).values()] };
}

type Region = RegionList["regions"][number];

function newerRegion(one: Region, other: Region): Region {
  return (other.generation ?? 0) > (one.generation ?? 0) ? other : one;
}

function lastPublished<T extends { generation: number; generated_at: string }>(documents: readonly T[]): T {
  const sorted = documents.toSorted(
    (left, right) =>
      Date.parse(right.generated_at) - Date.parse(left.generated_at) || right.generation - left.generation,
  );
  const [newest] = sorted;
  if (newest === undefined) throw new Error("Cannot join no documents");
  return newest;
}

function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
