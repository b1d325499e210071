import type { Generation } from "../database/generation.ts";
import type { Refusal } from "../http/refusal.ts";
import type { Draft } from "../serving/draft.ts";

export type RouteName =
  | "trending"
  | "video"
  | "regions"
  | "openapi"
  | "jwks"
  | "problem"
  | "healthz"
  | "none";

/** What one canonical URL names. */
export type Resource = {
  readonly url: string;
  readonly route: RouteName;
  /** Reads what there is to say in a generation. Throws when the database cannot be read. */
  read(generation: Generation): Content | Refusal;
};

/** Stays the same within a generation; only the token's minute is left to write. */
export type Content = {
  write(minute: number): Draft;
  /** Roughly what it alone keeps in memory. */
  bytes: number;
};

/** Content that has no token in it. */
export function fixedContent(draft: Draft): Content {
  return { write: () => draft, bytes: draft.body.length };
}
