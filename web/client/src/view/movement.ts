import type { Formats } from "./formats.ts";
import { h, type ViewElement } from "./nodes.ts";
import { fill, type Words } from "./words/words.ts";

export type Movement = "up" | "down" | "unchanged" | "new";

/**
 * How an item moved since the list that its `previous_rank` is of. Null when there was no such list
 * (`previousGeneratedAt`).
 */
export function movementOf(
  { rank, previous_rank: previous }: { rank: number; previous_rank: number | null },
  previousGeneratedAt: string | null,
): { movement: Movement; places: number } | null {
  if (previousGeneratedAt === null) return null;
  if (previous === null) return { movement: "new", places: 0 };
  const places = Math.abs(previous - rank);
  if (places === 0) return { movement: "unchanged", places };
  return { movement: rank < previous ? "up" : "down", places };
}

const signs = { up: "▲", down: "▼" } as const;

/** A sign for eyes and words for screen readers. */
export function movementView(
  { movement, places }: { movement: Movement; places: number },
  { words, formats }: { words: Words; formats: Formats },
): ViewElement {
  const count = formats.whole(places);
  const names = { class: `movement ${movement}`, part: `movement movement-${movement}` };
  if (movement === "new") return h("span", names, words.new);
  // The triangle is drawn by the style: not every font has it.
  const sign = movement === "unchanged" ? "–" : [h("span", { class: "sign" }, signs[movement]), count];
  return h(
    "span",
    names,
    h("span", { class: "moved", "aria-hidden": "true" }, sign),
    h("span", { class: "hidden" }, fill(words[movement], { n: count })),
  );
}
