import {
  parseTrendingQuery,
  readCursor,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/trending-query";
import { freshFor, notStored } from "./cache-policy.ts";
import type { Edition } from "./edition.ts";
import { choose, type Prepared, prepare } from "./prepared.ts";
import { problemResponse } from "./problem-response.ts";
import { splitTarget } from "./request-target.ts";
import type { Store } from "./store.ts";
import type { SignToken } from "./token-signer.ts";
import { writeTrendingText } from "./trending-text.ts";

/** What answering needs. `edition` is null until something was published. */
export type State = {
  edition: Edition | null;
  readonly store: () => Store;
  readonly signToken: SignToken;
  /** Prepared answers by the URL as it was sent. Bounded. */
  readonly pages: Map<string, { edition: Edition; prepared: Prepared }>;
};

const mostPages = 2048;

/** From a request to its response; no port is needed to call it. */
export function answer(request: Request, state: State): Response {
  const page = state.pages.get(request.url);
  if (page !== undefined && page.edition === state.edition && request.method === "GET") {
    return choose(page.prepared, request.headers.get("if-none-match"));
  }
  return answerUncommon(request, state);
}

function answerUncommon(request: Request, state: State): Response {
  const { path, search } = splitTarget(request.url);
  const known = path === "/api/trending" || path === "/healthz";
  if (!known) return problemResponse("not-found", "There is no such path. See /openapi.json.");
  if (request.method === "OPTIONS") return allowedMethods();
  if (request.method !== "GET" && request.method !== "HEAD") {
    const headers = { allow: "GET, HEAD, OPTIONS" };
    return problemResponse("method-not-allowed", "Only GET, HEAD and OPTIONS are allowed here.", { headers });
  }
  return path === "/healthz" ? healthy() : answerTrending(request, search, state);
}

function answerTrending(request: Request, search: string, state: State): Response {
  const { edition } = state;
  if (edition === null) {
    return problemResponse("not-ready", "Nothing was published yet.", { headers: { "retry-after": "5" } });
  }
  const parsed = parseTrendingQuery(search);
  if (parsed.query === null) {
    const detail = parsed.invalid.map((parameter) => `${parameter.name}: ${parameter.detail}`).join("; ");
    return problemResponse("invalid-parameter", detail, { invalid: parsed.invalid });
  }
  const built = buildTrending(parsed.query, edition, state);
  if (built instanceof Response) return built;
  remember(request.url, { edition, prepared: built }, state.pages);
  return choose(built, request.headers.get("if-none-match"));
}

function buildTrending(query: TrendingQuery, edition: Edition, state: State): Prepared | Response {
  const { categories } = edition.generation;
  if (query.category !== undefined && query.cursor === undefined && !categories.has(query.category)) {
    return unknownCategory([...categories]);
  }
  const start =
    query.cursor === undefined
      ? { generation: edition.generation.id, afterRank: 0 }
      : readCursor(query.cursor);
  const slice = state.store().readSlice(query, start);
  if (slice === null) return generationGone(query);
  const text = writeTrendingText(query, slice);
  const token = state.signToken({ region: query.region, count: text.count, minute: edition.minute });
  const link = text.next === null ? {} : { link: `<${text.next}>; rel="next"` };
  return prepare(text.beforeToken + token + text.afterToken, { ...pageHeaders, ...link });
}

const pageHeaders = {
  "content-type": "application/json",
  ...freshFor,
  vary: "Accept-Encoding",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Link",
};

function unknownCategory(categories: string[]): Response {
  const detail =
    categories.length === 0
      ? "expected none: there are no categories"
      : `expected one of ${categories.sort().join(", ")}`;
  const invalid = [{ name: "category", detail }];
  return problemResponse("invalid-parameter", `category: ${detail}`, { invalid });
}

function generationGone({ cursor: _, ...query }: TrendingQuery): Response {
  return problemResponse("generation-gone", "The generation of this cursor is no longer kept. Start again.", {
    restart: trendingUrl(query),
  });
}

function allowedMethods(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      allow: "GET, HEAD, OPTIONS",
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD, OPTIONS",
      "access-control-max-age": "86400",
    },
  });
}

function healthy(): Response {
  return new Response("ok\n", { headers: { "content-type": "text/plain", ...notStored } });
}

function remember(url: string, page: { edition: Edition; prepared: Prepared }, pages: State["pages"]): void {
  if (pages.size >= mostPages) pages.clear();
  pages.set(url, page);
}
