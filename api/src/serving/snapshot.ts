import type { Generation } from "../database/generation.ts";

/**
 * What decides the bytes of every answer: the generation that is served and the minute (Unix time / 60) of its tokens.
 * Compared by identity: there is one object for each, and what was built for another one is out of date.
 */
export type Snapshot = { readonly generation: Generation; readonly minute: number };
