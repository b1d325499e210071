import { DatabaseUnreadable } from "../database/errors.ts";
import { digestOf } from "../resources/body.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Content, Resource } from "../resources/resource.ts";
import type { ResponseSigner } from "../signing/response-signer.ts";
import type { CacheEntry, RepresentationSet } from "./cache-entry.ts";
import type {
  Representation,
  RepresentationFactory,
  RepresentationInput,
  SignedRefusal,
} from "./representation.ts";
import { finish, finishNow, type SignedBuild } from "./signed-build.ts";
import type { Snapshot } from "./snapshot.ts";

/** Builds representations. Nothing here runs for a request whose answer is in the cache. */
export class Builder {
  readonly #signer: ResponseSigner;
  readonly #factory: RepresentationFactory;
  readonly #onBuilt: (seconds: number) => void;

  /** `onBuilt` is called with the time that every build took. */
  constructor(
    signer: ResponseSigner,
    { factory, onBuilt }: { factory: RepresentationFactory; onBuilt: (seconds: number) => void },
  ) {
    this.#signer = signer;
    this.#factory = factory;
    this.#onBuilt = onBuilt;
  }

  /** Loads what building at once needs. */
  prepare(): void {
    this.#signer.prepare();
  }

  /** Finishes a build in its time. */
  finish<T>(build: SignedBuild<T>): Promise<T> {
    return finish(build, this.#signer.sign);
  }

  /** Finishes a build at once; null before `prepare`. */
  finishNow<T>(build: SignedBuild<T>): T | null {
    const { signNow } = this.#signer;
    return signNow === null ? null : finishNow(build, signNow);
  }

  /**
   * An entry's representations in a snapshot, in some codings (their indexes). What did not change since the last build
   * is reused. @throws DatabaseUnreadable when nothing was ever read for the entry
   */
  *build(
    entry: CacheEntry,
    snapshot: Snapshot,
    codings: readonly number[],
  ): SignedBuild<RepresentationSet | Refusal> {
    const started = performance.now();
    const content = this.#contentOf(entry, snapshot);
    if (content instanceof Refusal) return content;
    const body = content.render(snapshot.minute);
    const digest = digestOf(body);
    const isSame = digest.equals(entry.current.digest);
    const representations = isSame ? yield* this.#renew(entry.current.representations) : [];
    const set = { snapshot, content, digest, representations };
    const { url } = entry.resource;
    for (const encoding of codings) yield* this.#add(set, { url, body, encoding });
    this.#onBuilt((performance.now() - started) / 1000);
    return set;
  }

  /** Adds a further coding (its index) to a set of a resource. */
  *extend({ url }: Resource, set: RepresentationSet, encoding: number): SignedBuild<Representation> {
    if (set.snapshot === null || set.content === null) throw new Error("Cannot extend an empty set");
    return yield* this.#add(set, { url, body: set.content.render(set.snapshot.minute), encoding });
  }

  /** The answer that a resource does not exist, signed unless there is a flood of them. */
  *refuse({ url }: Resource, refusal: Refusal): SignedBuild<SignedRefusal | Refusal> {
    return (yield* this.#factory.createMissing(url, refusal)) ?? refusal;
  }

  *#add({ representations }: RepresentationSet, input: RepresentationInput): SignedBuild<Representation> {
    const representation = representations[input.encoding] ?? (yield* this.#factory.create(input));
    representations[input.encoding] = representation;
    return representation;
  }

  // An edge refuses signatures of another quarter of an hour, so an answer that stays the same is signed again.
  *#renew(known: RepresentationSet["representations"]): SignedBuild<RepresentationSet["representations"]> {
    const renewed: RepresentationSet["representations"] = [];
    for (const one of known) renewed.push(one && (yield* this.#factory.renew(one)));
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
