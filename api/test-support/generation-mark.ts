import type { GenerationMark } from "../src/database/inspector.ts";

/** What is compared of a generation that one writer has published. */
export function generationMark(id: number, publishedAt = 0): GenerationMark {
  return { id, publishedAt, rankings: [{ id, publishedAt }] };
}
