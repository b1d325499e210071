import { DatabaseUnreadable } from "../database/errors.ts";
import { type Body, digestOf } from "../resources/body.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Content } from "../resources/resource.ts";
import type { CacheEntry, RepresentationSet } from "./cache-entry.ts";
import type { CreateRepresentation, Representation } from "./representation.ts";
import type { Snapshot } from "./snapshot.ts";

/** Builds representations. Nothing here runs for a request whose answer is in the cache. */
export class Builder {
  readonly #create: CreateRepresentation;
  readonly #onBuilt: (seconds: number) => void;

  /** `onBuilt` is called with the time that every build took. */
  constructor(create: CreateRepresentation, onBuilt: (seconds: number) => void) {
    this.#create = create;
    this.#onBuilt = onBuilt;
  }

  /**
   * An entry's representations in a snapshot, in some codings (their indexes). What did not change since the last build
   * is reused. @throws DatabaseUnreadable when nothing was ever read for the entry
   */
  async build(
    entry: CacheEntry,
    snapshot: Snapshot,
    codings: readonly number[],
  ): Promise<RepresentationSet | Refusal> {
    const started = performance.now();
    const content = this.#contentOf(entry, snapshot);
    if (content instanceof Refusal) return content;
    const body = content.render(snapshot.minute);
    const digest = digestOf(body);
    const isSame = digest.equals(entry.current.digest);
    const set = { snapshot, content, digest, representations: isSame ? entry.current.representations : [] };
    await Promise.all(codings.map((coding) => this.#add(set, body, coding)));
    this.#onBuilt((performance.now() - started) / 1000);
    return set;
  }

  /** Adds a further coding (its index) to a set. */
  async extend(set: RepresentationSet, coding: number): Promise<Representation> {
    if (set.snapshot === null || set.content === null) throw new Error("Cannot extend an empty set");
    return this.#add(set, set.content.render(set.snapshot.minute), coding);
  }

  async #add(set: RepresentationSet, body: Body, coding: number): Promise<Representation> {
    const representation = set.representations[coding] ?? (await this.#create(body, coding));
    set.representations[coding] = representation;
    return representation;
  }

  // While the database cannot be read, the entry's last good content goes on being served.
  #contentOf(entry: CacheEntry, { generation }: Snapshot): Content | Refusal {
    if (entry.content !== null && entry.contentGeneration === generation) return entry.content;
    try {
      const content = entry.resource.read(generation);
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
