import { DatabaseUnreadable } from "../database/errors.ts";
import { digestOf } from "../resources/body.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Content, Resource } from "../resources/resource.ts";
import type { CacheEntry, RepresentationSet } from "./cache-entry.ts";
import type {
  Representation,
  RepresentationFactory,
  RepresentationInput,
  SignedRefusal,
} from "./representation.ts";
import type { Snapshot } from "./snapshot.ts";

/** Builds representations. Nothing here runs for a request whose answer is in the cache. */
export class Builder {
  readonly #factory: RepresentationFactory;
  readonly #onBuilt: (seconds: number) => void;

  /** `onBuilt` is called with the time that every build took. */
  constructor(factory: RepresentationFactory, onBuilt: (seconds: number) => void) {
    this.#factory = factory;
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
    const representations = isSame ? await this.#renew(entry.current.representations) : [];
    const set = { snapshot, content, digest, representations };
    const { url } = entry.resource;
    await Promise.all(codings.map((encoding) => this.#add(set, { url, body, encoding })));
    this.#onBuilt((performance.now() - started) / 1000);
    return set;
  }

  /** Adds a further coding (its index) to a set of a resource. */
  async extend({ url }: Resource, set: RepresentationSet, encoding: number): Promise<Representation> {
    if (set.snapshot === null || set.content === null) throw new Error("Cannot extend an empty set");
    return this.#add(set, { url, body: set.content.render(set.snapshot.minute), encoding });
  }

  /** The answer that a resource does not exist, signed unless there is a flood of them. */
  async refuse({ url }: Resource, refusal: Refusal): Promise<SignedRefusal | Refusal> {
    return (await this.#factory.createMissing(url, refusal)) ?? refusal;
  }

  async #add({ representations }: RepresentationSet, input: RepresentationInput): Promise<Representation> {
    const representation = representations[input.encoding] ?? (await this.#factory.create(input));
    representations[input.encoding] = representation;
    return representation;
  }

  // An edge refuses signatures of another quarter of an hour, so an answer that stays the same is signed again.
  async #renew(known: RepresentationSet["representations"]): Promise<RepresentationSet["representations"]> {
    const renewed = await Promise.all(Array.from(known, (one) => one && this.#factory.renew(one)));
    return renewed.some((one, index) => one !== known[index]) ? renewed : known;
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
