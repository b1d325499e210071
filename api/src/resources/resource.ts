import type { TokenList } from "@trendvault/contract/token";
import type { Generation } from "../database/generation.ts";
import type { Body } from "./body.ts";
import type { Refusal } from "./refusal.ts";

/** The routes that requests are counted by; "none" is every path that does not exist. */
export const routeNames = [
  "trending",
  "video",
  "explanation",
  "about",
  "regions",
  "page",
  "feed",
  "export",
  "asset",
  "openapi",
  "jwks",
  "problem",
  "healthz",
  "none",
] as const;
export type RouteName = (typeof routeNames)[number];

/** What one canonical URL names. */
export type Resource = {
  /** Path and query: one URL for all spellings of a request. */
  readonly url: string;
  readonly route: RouteName;
  /** Reads the content in a generation. @throws DatabaseUnreadable */
  read(generation: Generation): Content | Refusal;
  /**
   * The same in steps, where it takes longer than a page: half a MB, say. What has it is built apart from everything
   * else, and never while a request for something else waits.
   */
  readInSteps?(generation: Generation): Generator<void, Content | Refusal>;
};

/** What a resource says in one generation; only its token is left to write. */
export type Content = {
  /** What the token names; null when the content has none. */
  list: TokenList | null;
  /** `token` is "" for content without one. */
  render(token: string): Body;
  /** Roughly the bytes of memory that it keeps to itself. */
  weight: number;
};

/** Content without a token. */
export function fixedContent(body: Body): Content {
  return { list: null, render: () => body, weight: body.bytes.length };
}
