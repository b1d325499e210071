import type { GenerationMark } from "../src/database/inspector.ts";

/** What is compared of a generation that one writer has published. */
export function generationMark(id: number, publishedAt = 0): GenerationMark {
  return { id, publishedAt, rankings: [{ id, publishedAt }] };
}

/** The same of several writers: `id` is the one that published last. */
export function generationMarkOf(last: GenerationMark, ...others: GenerationMark[]): GenerationMark {
  const rankings = [last, ...others].flatMap((one) => one.rankings);
  return { ...last, rankings: rankings.toSorted((left, right) => left.id - right.id) };
}
