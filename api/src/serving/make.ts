import type { Resource } from "../answers/resource.ts";
import { Refusal } from "../http/refusal.ts";
import type { Representation } from "./representation.ts";
import { Slot } from "./slot.ts";
import type { State } from "./state.ts";

export type Made = { slot: Slot; representation: Representation };

/**
 * Makes what a request waits for; runs in the build queue. What is refused is not kept: it would let a flood
 * of bad requests fill the cache.
 */
export async function make(resource: Resource, encoding: number, state: State): Promise<Made | Refusal> {
  const { edition, slots, builder } = state;
  if (edition === null) throw new Error("Cannot make an answer before the first edition");
  const slot = slots.get(resource.url) ?? new Slot(resource);
  if (slot.current.edition !== edition) {
    const build = builder.build(slot, edition);
    if (build instanceof Refusal) return build;
    slot.current = build;
  }
  const representation = await builder.represent(slot.current, encoding);
  slots.set(resource.url, slot);
  return { slot, representation };
}
