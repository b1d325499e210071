import type { Generation } from "../database/generation.ts";
import { identity } from "../resources/encodings.ts";
import type { Content, Resource } from "../resources/resource.ts";
import type { RouteCounters } from "./counters.ts";
import type { Representation } from "./representation.ts";
import type { Snapshot } from "./snapshot.ts";

/** A resource's representations in one snapshot, those that were requested so far. */
export type RepresentationSet = {
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
  readonly counters: RouteCounters;
  /** What is served while its snapshot is the current one. */
  current: RepresentationSet = emptySet;
  /** The last content that was read, and the generation that it was read from. */
  content: Content | null = null;
  contentGeneration: Generation | null = null;
  /** How often it was served, halved with every snapshot: the busiest entries are prewarmed. */
  hits = 0;
  #next: RepresentationSet = emptySet;

  constructor(resource: Resource, counters: RouteCounters) {
    this.resource = resource;
    this.counters = counters;
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
  return representation === undefined ? sum : sum + representation.bytes + 4096; // two Responses, a dozen fields each
}

const emptySet: RepresentationSet = {
  snapshot: null,
  content: null,
  token: "",
  digest: Buffer.alloc(0),
  representations: [],
};
