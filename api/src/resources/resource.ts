import { unexpectedParameter } from "@trendvault/contract/http";
import type { ProblemExtras, ProblemKind } from "@trendvault/contract/problem";
import type { InvalidParameter, ListRefusal } from "@trendvault/contract/queries";
import type { TokenList } from "@trendvault/contract/token";
import type { Generation } from "../database/store.ts";

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
  /** Unix seconds: when some of it may not be shown any more. */
  endsAt: number;
  /** Roughly the bytes of memory that it keeps to itself. */
  weight: number;
};

/** A text that is written but for its token, which goes at `tokenAt`. */
export type TextAroundToken = { text: string; tokenAt: number };

/**
 * Content with a token, which is all of it that changes with the minute: written once, with the first rendering, and kept
 * in a sixth of its bytes.
 */
export class TokenContent implements Content {
  readonly list: TokenList | null;
  readonly #body: Omit<Body, "bytes">;
  #write: (() => TextAroundToken) | null;
  #packed: Uint8Array<ArrayBuffer> = new Uint8Array();
  #tokenAt = 0; // bytes

  constructor(list: TokenList | null, body: Omit<Body, "bytes">, write: () => TextAroundToken) {
    this.list = list;
    this.#body = body;
    this.#write = write;
  }

  render(token: string): Body {
    this.#writeOnce();
    const text = Bun.zstdDecompressSync(this.#packed);
    const middle = new TextEncoder().encode(token); // of a token's alphabet nothing has to be escaped
    const bytes = new Uint8Array(text.length + middle.length);
    bytes.set(text.subarray(0, this.#tokenAt));
    bytes.set(middle, this.#tokenAt);
    bytes.set(text.subarray(this.#tokenAt), this.#tokenAt + middle.length);
    return { ...this.#body, bytes };
  }

  get endsAt(): number {
    return this.#body.endsAt;
  }

  get weight(): number {
    this.#writeOnce();
    return this.#packed.length;
  }

  #writeOnce(): void {
    if (this.#write === null) return;
    const { text, tokenAt } = this.#write();
    this.#packed = new Uint8Array(Bun.zstdCompressSync(text, { level: 1 })); // 17 us for 10 KB, and 8 to unpack
    this.#tokenAt = Buffer.byteLength(text.slice(0, tokenAt));
    this.#write = null; // what it was written from need not be kept
  }
}

/** Content without a token. */
export function fixedContent(body: Body): Content {
  return { list: null, render: () => body, endsAt: body.endsAt, weight: body.bytes.length };
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

  /** Parameters that were refused; the sentence names each. */
  static ofParameters(invalid: InvalidParameter[], kind: ProblemKind = "invalid-parameter"): Refusal {
    const detail = invalid.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
    return new Refusal(kind, detail, { invalid });
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

/** What is at a path without parameters, by its query string (without its "?"). */
export function withoutParameters(resolve: () => Resource | Refusal): (search: string) => Resource | Refusal {
  return (search) => (search === "" ? resolve() : noParameters);
}

const noParameters = Refusal.ofParameters([unexpectedParameter]);

/**
 * Several writers share the regions, and of the one that has this region nothing is here. Signed, it would take the place
 * of the lists that an edge has; as a failure (503) it would keep edges from asking for other regions.
 */
export const unpublishedRegion = new Refusal(
  "not-found",
  "No list of this region has been published here.",
  {},
  false,
);

/** The body of a 200 before content coding. Made anew when needed: kept, it would double the memory of an answer. */
export type Body = {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  /** The URL of the next page, for a Link field (RFC 8288); null when there is none. */
  next: string | null;
  /** Unix seconds: when some of it may not be shown any more. */
  endsAt: number;
  /** Further header fields of the 200, which are not signed. */
  fields?: Readonly<Record<string, string>>;
};

export const jsonContentType = "application/json";

/** The body of a text in UTF-8. */
export function textBody(text: string, contentType: string): Body {
  return { bytes: new TextEncoder().encode(text), contentType, next: null, endsAt: Infinity };
}

/** The body of a JSON text. */
export function jsonBody(text: string): Body {
  return textBody(text, jsonContentType);
}

/** The SHA-256 of the body, 32 bytes. */
export function digestOf({ bytes }: Body): Buffer {
  return new Bun.CryptoHasher("sha256").update(bytes).digest();
}

/** For answers that describe a moment or a failure. */
export const notStoredFields = { "cache-control": "no-store" } as const;

/** RFC 3339 in UTC, whole seconds, from Unix seconds. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

export function formatTimeOrNull(seconds: number | null): string | null {
  return seconds === null ? null : formatTime(seconds);
}
