import type { SignatureFields, SignedFields } from "@trendvault/contract/signature-base";
import { claimsOf, unsignedToken } from "@trendvault/contract/token";
import { DatabaseUnreadable } from "../database/database-files.ts";
import type { Generation } from "../database/store.ts";
import { type Body, type Content, digestOf, Refusal, type Resource } from "../resources/resource.ts";
import type { SigningKeys } from "../signing.ts";
import type { Counters } from "./counters.ts";
import {
  endOfStep,
  finish,
  identity,
  type Representation,
  type RepresentationFactory,
  type SignedBuild,
  type SignedRefusal,
  type Signing,
} from "./representation.ts";

/**
 * What decides the bytes of every answer: the generation that is served and the minute (Unix time / 60) of its tokens.
 * Compared by identity: there is one object for each, and what was built for another one is out of date.
 */
export type Snapshot = { readonly generation: Generation; readonly minute: number };

/** A resource's representations in one snapshot, those that were requested so far. */
type RepresentationSet = {
  readonly snapshot: Snapshot | null;
  readonly content: Content | null;
  readonly token: string;
  /** SHA-256 of the plain body: two sets of the same body share their representations. */
  readonly digest: Buffer;
  /** By the index of the coding. */
  readonly representations: (Representation | undefined)[];
};

/** What is kept of one resource, from snapshot to snapshot. */
export class CacheEntry {
  readonly resource: Resource;
  readonly counters: Counters["byRoute"][keyof Counters["byRoute"]];
  /** What is served while its snapshot is the current one. */
  current: RepresentationSet = emptySet;
  /** The last content that was read, and the generation that it was read from. */
  content: Content | null = null;
  contentGeneration: Generation | null = null;
  /** How often it was served, halved with every snapshot: the busiest entries are prewarmed. */
  hits = 0;
  #next: RepresentationSet = emptySet;
  #agedHits = 0;
  #isAsked = true; // in this minute, before the hits were aged last

  constructor(resource: Resource, counters: CacheEntry["counters"]) {
    this.resource = resource;
    this.counters = counters;
  }

  /** Halves the hits, so that recent ones count more. */
  ageHits(): void {
    this.#isAsked ||= this.hits !== this.#agedHits;
    this.hits >>= 1;
    this.#agedHits = this.hits;
  }

  /** Forgets the hits when there was none in the minute that ends: thousands would have it built ahead for long. */
  endMinute(): void {
    if (!this.#isAsked && this.hits === this.#agedHits) this.hits = 0;
    this.#isAsked = false;
    this.#agedHits = this.hits;
  }

  /** The snapshot that it was built ahead for, or null. */
  get prewarmedFor(): Snapshot | null {
    return this.#next.snapshot;
  }

  /** Keeps what was built ahead, until `promote` or the next call. */
  prewarm(next: RepresentationSet): void {
    this.#next = next;
  }

  /** Serves what was built ahead for a snapshot, if anything was. */
  promote(snapshot: Snapshot): void {
    if (this.prewarmedFor === snapshot) this.current = this.#next;
    this.#next = emptySet;
  }

  /** The indexes of the codings that were requested, at least the plain one. */
  get codings(): number[] {
    const { representations } = this.current;
    const requested = [...representations.keys()].filter((index) => representations[index] !== undefined);
    return requested.length === 0 ? [identity] : requested;
  }

  /** Roughly the bytes that it keeps alive, in the heap and outside of it. */
  get weight(): number {
    return this.current.representations.reduce(addWeight, 2048 + (this.content?.weight ?? 0));
  }
}

function addWeight(sum: number, representation: Representation | undefined): number {
  return representation === undefined ? sum : sum + representation.bytes + 4096; // two Answers, a dozen fields each
}

const emptySet: RepresentationSet = {
  snapshot: null,
  content: null,
  token: "",
  digest: Buffer.alloc(0),
  representations: [],
};

type BuilderOptions = {
  factory: RepresentationFactory;
  onBuilt: (seconds: number) => void;
};

/** A body, and the fields that are signed with it. */
type SignedBody = { body: Body; fields: SignedFields & SignatureFields };

type Compression = Representation["compression"];

/** How a body is compressed: at once for the request that waits for it, or as small as is worth it. */
type BuildOptions = { codings: readonly number[]; compression: Compression };

/** Builds representations. Nothing here runs for a request whose answer is in the cache. */
export class Builder {
  readonly #keys: SigningKeys;
  readonly #factory: RepresentationFactory;
  readonly #onBuilt: (seconds: number) => void;

  /** `onBuilt` is called with the time that every build took, what it waited for included. */
  constructor(keys: SigningKeys, { factory, onBuilt }: BuilderOptions) {
    this.#keys = keys;
    this.#factory = factory;
    this.#onBuilt = onBuilt;
  }

  /** Finishes a build in its time, a step whenever `yieldTurn` resolves. */
  finish<T>(build: SignedBuild<T>, yieldTurn = yieldToEventLoop): Promise<T> {
    return finish(build, { keys: this.#keys, yieldTurn });
  }

  /**
   * An entry's representations in a snapshot, in some codings (their indexes). What did not change since the last build
   * is reused. A step reads, or writes, or is a coding. @throws DatabaseUnreadable when nothing was ever read for the
   * entry
   */
  *build(
    entry: CacheEntry,
    snapshot: Snapshot,
    { codings, compression }: BuildOptions,
  ): SignedBuild<RepresentationSet | Refusal> {
    const started = performance.now();
    const content = yield* this.#contentOf(entry, snapshot);
    if (content instanceof Refusal) return content;
    yield endOfStep;
    const token = yield* this.#signToken(content, snapshot);
    const render = renderOnce(content, token);
    const isUnchanged = content.list === null && content === entry.current.content;
    if (!isUnchanged && entry.resource.readInSteps !== undefined) {
      render(); // what is large takes as long for its digest again
      yield endOfStep;
    }
    const digest = isUnchanged ? entry.current.digest : digestOf(render());
    const isSame = digest.equals(entry.current.digest);
    const reusable = isSame ? entry.current.representations.map(reusableFor(compression)) : [];
    const representations = yield* this.#renew(reusable);
    const set = { snapshot, content, token, digest, representations };
    for (const encoding of codings) {
      yield endOfStep;
      yield* this.#add(set, { resource: entry.resource, render, encoding, compression });
    }
    this.#onBuilt((performance.now() - started) / 1000);
    return set;
  }

  /** Adds a further coding (its index) to a set of a resource. */
  *extend(resource: Resource, set: RepresentationSet, encoding: number): SignedBuild<Representation> {
    if (set.snapshot === null || set.content === null) throw new Error("Cannot extend an empty set");
    const render = renderOnce(set.content, set.token);
    return yield* this.#add(set, { resource, render, encoding, compression: "fast" });
  }

  /** What a resource is in a snapshot, for who keeps it elsewhere: the plain body, and its signed fields. */
  *sign(resource: Resource, snapshot: Snapshot): Signing<SignedBody | Refusal> {
    const content = resource.read(snapshot.generation);
    if (content instanceof Refusal) return content;
    const body = content.render(yield* this.#signToken(content, snapshot));
    const fields = yield* this.#factory.sign({ url: resource.url, body, digest: digestOf(body) });
    return { body, fields };
  }

  /** The answer that a resource does not exist, signed unless there is a flood of them. */
  *refuse({ url }: Resource, refusal: Refusal): SignedBuild<SignedRefusal | Refusal> {
    return (yield* this.#factory.createMissing(url, refusal)) ?? refusal;
  }

  *#signToken({ list }: Content, { minute }: Snapshot): Signing<string> {
    if (list === null) return "";
    const { input, write } = unsignedToken(claimsOf(list, minute), this.#keys.tokens.kid);
    return write(yield { purpose: "tokens", bytes: new TextEncoder().encode(input) });
  }

  *#add(
    { representations, digest }: RepresentationSet,
    { resource, render, encoding, compression }: Addition,
  ): SignedBuild<Representation> {
    const known = representations[encoding];
    if (known !== undefined) return known;
    const input = { url: resource.url, body: render(), digest, encoding, compression };
    const isLarge = resource.readInSteps !== undefined;
    const created = yield* this.#factory.create({ ...input, isLarge });
    representations[encoding] = created;
    return created;
  }

  // An edge refuses signatures of another quarter of an hour, so an answer that stays the same is signed again.
  *#renew(known: RepresentationSet["representations"]): SignedBuild<RepresentationSet["representations"]> {
    const renewed: RepresentationSet["representations"] = [];
    for (const one of known) renewed.push(one && (yield* this.#factory.renew(one)));
    return renewed.some((one, index) => one !== known[index]) ? renewed : known;
  }

  // While the database cannot be read, the entry's last good content goes on being served.
  *#contentOf(entry: CacheEntry, { generation }: Snapshot): SignedBuild<Content | Refusal> {
    if (entry.content !== null && entry.contentGeneration === generation) return entry.content;
    try {
      const content = yield* readInSteps(entry.resource, generation);
      if (content instanceof Refusal) return content;
      entry.content = content;
      entry.contentGeneration = generation;
      return content;
    } catch (error) {
      if (error instanceof DatabaseUnreadable && entry.content !== null) return entry.content;
      throw error;
    }
  }
}

/** What a set does not have yet. */
type Addition = {
  resource: Resource;
  render: () => Body;
  encoding: number;
  compression: Compression;
};

function* readInSteps(resource: Resource, generation: Generation): SignedBuild<Content | Refusal> {
  if (resource.readInSteps === undefined) return resource.read(generation);
  const steps = resource.readInSteps(generation);
  let step = steps.next();
  for (; !step.done; step = steps.next()) yield endOfStep;
  return step.value;
}

/** Renders with the first call only: what stays as it was needs no rendering at all. */
function renderOnce(content: Content, token: string): () => Body {
  let body: Body | null = null;
  return () => {
    body ??= content.render(token);
    return body;
  };
}

// A flood's pages are compressed fast; what is built ahead, because it is asked for again, replaces that.
function reusableFor(compression: Compression) {
  return (known: Representation | undefined) =>
    compression === "small" && known?.compression === "fast" ? undefined : known;
}

/** Resolves once the event loop has looked at its sockets. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
