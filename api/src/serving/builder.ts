import { DatabaseUnreadable } from "../database/fault.ts";
import { Refusal } from "../http/refusal.ts";
import { type Draft, isSameDraft } from "./draft.ts";
import type { Edition } from "./edition.ts";
import type { Representation, RepresentationMaker } from "./representation.ts";
import type { Build, Slot } from "./slot.ts";

/** Makes answers. Everything here is off the path of warm requests. */
export class Builder {
  readonly #represent: RepresentationMaker;
  /** Called with every build's time in milliseconds. */
  readonly #built: (milliseconds: number) => void;

  constructor(represent: RepresentationMaker, built: (milliseconds: number) => void) {
    this.#represent = represent;
    this.#built = built;
  }

  /** An answer for an edition. What did not change since the slot's last build is taken over. */
  build(slot: Slot, edition: Edition): Build | Refusal {
    const started = performance.now();
    const refusal = this.#refreshContent(slot, edition);
    if (refusal !== null) return refusal;
    const draft = slot.content?.write(edition.minute) as Draft;
    const { current } = slot;
    const representations = isSameDraft(draft, current.draft) ? current.representations : [];
    this.#built(performance.now() - started);
    return { edition, draft, representations };
  }

  async represent(build: Build, encoding: number): Promise<Representation> {
    const made = build.representations[encoding] ?? (await this.#represent(build.draft, encoding));
    build.representations[encoding] = made;
    return made;
  }

  // While the database cannot be read, the slot's last good content goes on being served.
  #refreshContent(slot: Slot, { generation }: Edition): Refusal | null {
    if (slot.contentOf === generation) return null;
    try {
      const content = slot.resource.read(generation);
      if (content instanceof Refusal) return content;
      slot.content = content;
      slot.contentOf = generation;
      return null;
    } catch (error) {
      if (error instanceof DatabaseUnreadable && slot.content !== null) return null;
      throw error;
    }
  }
}
