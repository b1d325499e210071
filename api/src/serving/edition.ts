import type { Generation } from "../database/generation.ts";

/**
 * What decides the bytes of every answer: the generation served and the minute of its tokens. Compared by
 * identity: there is one object for each, and an answer built for another one is out of date.
 */
export type Edition = { readonly generation: Generation; readonly minute: number };
