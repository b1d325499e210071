import type { Content } from "../answers/resource.ts";
import { DatabaseUnreadable } from "../database/fault.ts";
import { Refusal } from "../http/refusal.ts";
import { type Draft, digestOf } from "./draft.ts";
import type { Edition } from "./edition.ts";
import type { Representation, RepresentationMaker } from "./representation.ts";
import type { Build, Slot } from "./slot.ts";

/** Makes answers. Everything here is off the path of warm requests. */
export class Builder {
  readonly #make: RepresentationMaker;
  /** Called with every build's time in milliseconds. */
  readonly #built: (milliseconds: number) => void;

  constructor(make: RepresentationMaker, built: (milliseconds: number) => void) {
    this.#make = make;
    this.#built = built;
  }

  /** An answer for an edition in some codings. What did not change since the last build is taken over. */
  async build(slot: Slot, edition: Edition, codings: number[]): Promise<Build | Refusal> {
    const started = performance.now();
    const content = this.#contentFor(slot, edition);
    if (content instanceof Refusal) return content;
    const draft = content.write(edition.minute);
    const digest = digestOf(draft);
    const isSame = digest.equals(slot.current.digest);
    const build = { edition, content, digest, representations: isSame ? slot.current.representations : [] };
    await Promise.all(codings.map((coding) => this.#represent(build, draft, coding)));
    this.#built(performance.now() - started);
    return build;
  }

  /** A further coding of an answer. */
  async extend(build: Build, coding: number): Promise<Representation> {
    if (build.edition === null || build.content === null)
      throw new Error("Cannot extend what was never built");
    return this.#represent(build, build.content.write(build.edition.minute), coding);
  }

  async #represent(build: Build, draft: Draft, coding: number): Promise<Representation> {
    const made = build.representations[coding] ?? (await this.#make(draft, coding));
    build.representations[coding] = made;
    return made;
  }

  // While the database cannot be read, the slot's last good content goes on being served.
  #contentFor(slot: Slot, { generation }: Edition): Content | Refusal {
    if (slot.content !== null && slot.contentOf === generation) return slot.content;
    try {
      const content = slot.resource.read(generation);
      if (content instanceof Refusal) return content;
      slot.content = content;
      slot.contentOf = generation;
      return content;
    } catch (error) {
      if (error instanceof DatabaseUnreadable && slot.content !== null) return slot.content;
      throw error;
    }
  }
}
