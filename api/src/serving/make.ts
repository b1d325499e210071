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
  const { edition, slots, builder, counters } = state;
  if (edition === null) throw new Error("Cannot make an answer before the first edition");
  const slot = slots.get(resource.url) ?? new Slot(resource, counters.tallies[resource.route]);
  let build = slot.current;
  if (build.edition !== edition) {
    const built = await builder.build(slot, edition, [encoding]);
    if (built instanceof Refusal) return built;
    build = built;
    if (state.edition === edition) slot.current = build; // else the next one has begun in the meantime
  }
  const representation = build.representations[encoding] ?? (await builder.extend(build, encoding));
  slots.set(resource.url, slot);
  return { slot, representation };
}
