import {
  answerLifetimes,
  browserFreshSeconds,
  browserStaleSeconds,
  lifetimesField,
} from "@trendvault/contract/lists";
import type { ProblemExtras, ProblemKind } from "@trendvault/contract/problem";
import type { ListRefusal } from "@trendvault/contract/queries";
import type { TokenList } from "@trendvault/contract/token";
import type { Generation } from "../database/generation.ts";

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

/** An error of the closed vocabulary, in place of a resource or its content. Returned, not thrown. */
export class Refusal {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly extras: ProblemExtras;
  /** Whether it is signed, so that an edge stores it. A bad request is answered by the edge itself. */
  readonly isSigned: boolean;

  static of({ kind, detail, extras }: ListRefusal): Refusal {
    return new Refusal(kind, detail, extras);
  }

  constructor(
    kind: ProblemKind,
    detail: string,
    extras: ProblemExtras = {},
    isSigned = kind === "not-found",
  ) {
    this.kind = kind;
    this.detail = detail;
    this.extras = extras;
    this.isSigned = isSigned;
  }
}

/**
 * Several writers share the regions, and of the one that has this region nothing is here. Signed, it would take the place
 * of the lists that an edge has; as a failure (503) it would keep edges from asking for other regions.
 */
export const unpublishedRegion = new Refusal(
  "not-found",
  "No list of this market has been published here.",
  {},
  false,
);

/** The body of a 200 before content coding. Made anew when needed: kept, it would double the memory of an answer. */
export type Body = {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** The URL of the next page, for a Link field (RFC 8288); null when there is none. */
  next: string | null;
  /** Further header fields of the 200, which are not signed. */
  fields?: Readonly<Record<string, string>>;
};

export const jsonContentType = "application/json";

/** The body of a text in UTF-8. */
export function textBody(text: string, contentType: string): Body {
  return { bytes: new TextEncoder().encode(text), contentType, next: null };
}

/** The body of a JSON text. */
export function jsonBody(text: string): Body {
  return textBody(text, jsonContentType);
}

/** The SHA-256 of the body, 32 bytes. */
export function digestOf({ bytes }: Body): Buffer {
  return new Bun.CryptoHasher("sha256").update(bytes).digest();
}

/**
 * How long an answer may be used. Browsers keep it for half a minute; shared caches longer, and serve it stale while
 * they revalidate or the origin fails (RFC 5861, RFC 9213). No s-maxage: it would switch stale serving off.
 */
export const cachedFields = {
  "cache-control": `public, max-age=${browserFreshSeconds}, stale-while-revalidate=${browserStaleSeconds}`,
  "cdn-cache-control": `public, ${answerLifetimes}`,
  [lifetimesField]: answerLifetimes,
} as const;

/** For answers that describe a moment or a failure. */
export const notStoredFields = { "cache-control": "no-store" } as const;

/** RFC 3339 in UTC, whole seconds, from Unix seconds. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

export function formatTimeOrNull(seconds: number | null): string | null {
  return seconds === null ? null : formatTime(seconds);
}
