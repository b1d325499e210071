import { describe, expect, test } from "bun:test";
import { TestSigner } from "@trendvault/contract/test-support/test-signer";
import type { CanonicalRequest } from "../rules/canonical-request.ts";
import type { OriginResponse } from "./fetch-from-origin.ts";
import type { StoredResponse } from "./stored-response.ts";
import { type ValidationContext, validateOriginResponse } from "./validate-origin-response.ts";

const now = 1_795_176_030;
const request: CanonicalRequest = {
  target: "/api/trending?region=DE",
  query: { region: "DE", window: "day", limit: 24 },
  regionFromCountry: true,
};
const list = {
  region: "DE",
  window: "day",
  category: null,
  generation: 7,
  generated_at: "2026-11-20T12:00:00Z",
  count: 2,
  token: `v1.k1.DE.2.${Math.floor(now / 60)}.${"A".repeat(22)}`,
};
const generatedAt = Date.parse(list.generated_at) / 1000;

const signer = await TestSigner.create();

/** A valid response, signed after `headers` have replaced its own. */
async function responseWith(
  body: unknown = list,
  headers: Record<string, string> = {},
): Promise<OriginResponse> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const contentType = headers["content-type"] ?? "application/json";
  return {
    status: 200,
    headers: new Headers({
      ...(await signer.sign(text, { contentType, created: now })),
      "cache-control": "public, max-age=30",
      "cdn-cache-control": "max-age=120, stale-while-revalidate=600",
      link: '</api/trending?region=DE&cursor=7-2>; rel="next"',
      "x-powered-by": "nobody's business",
      ...headers,
    }),
    body: new TextEncoder().encode(text),
  };
}

type Overrides = { type?: string; status?: number };

/** `overrides`: another content type, or another status in the body. */
function problemWith(status: number, kind: string, overrides: Overrides = {}): OriginResponse {
  const problem = {
    type: `/problems/${kind}`,
    status: overrides.status ?? status,
    title: "t",
    detail: "d",
  };
  const headers = new Headers({ "content-type": overrides.type ?? "application/problem+json" });
  return { status, headers, body: new TextEncoder().encode(JSON.stringify(problem)) };
}

function validate(received: OriginResponse, context: Partial<ValidationContext> = {}) {
  return validateOriginResponse(received, {
    request,
    stored: null,
    now,
    keys: signer.publicKeys,
    ...context,
  });
}

describe("a valid response", () => {
  test("is stored with its times, its lifetimes and the headers that belong to its body", async () => {
    expect(await validate(await responseWith())).toEqual({
      kind: "response",
      response: {
        target: request.target,
        body: JSON.stringify(list),
        headers: {
          "content-type": "application/json",
          etag: '"abc"',
          link: expect.stringContaining('rel="next"'),
          "unencoded-digest": expect.stringMatching(/^sha-256=:/),
          "signature-input": expect.stringMatching(/^tv=/),
          signature: expect.stringMatching(/^tv=:/),
        },
        generatedAt,
        fetchedAt: now,
        lifetimes: {
          maxAge: 120,
          staleWhileRevalidate: 600,
          staleIfError: 0,
          browserMaxAge: 30,
          browserStaleWhileRevalidate: 0,
        },
      },
    });
  });

  test("may be of the stored generation", async () => {
    const stored = { generatedAt } as StoredResponse;
    expect(await validate(await responseWith(), { stored })).toMatchObject({ kind: "response" });
  });

  test("may have an entity tag that a proxy weakened: the stored one is the origin's", async () => {
    const response = await responseWith(list, { etag: 'W/"abc"' });
    expect(await validate(response)).toMatchObject({
      kind: "response",
      response: { headers: { etag: '"abc"' } },
    });
  });

  test("may be a document without a date: it is as old as the response", async () => {
    const response = await responseWith({ keys: [] }, { "content-type": "application/jwk-set+json" });
    const document: CanonicalRequest = {
      target: "/.well-known/jwks.json",
      query: null,
      regionFromCountry: false,
    };
    expect(await validate(response, { request: document })).toMatchObject({
      kind: "response",
      response: { generatedAt: now },
    });
  });
});

describe("a failure of the origin:", () => {
  const cases: [string, () => Promise<OriginResponse>, RegExp][] = [
    ["status 500", async () => ({ ...(await responseWith()), status: 500 }), /status 500/],
    ["status 206", async () => ({ ...(await responseWith()), status: 206 }), /status 206/],
    ["HTML", () => responseWith("<h1>", { "content-type": "text/html" }), /not JSON/],
    ["JSON by name only, though signed", () => responseWith("{"), /not JSON/],
    ["a body of a megabyte", () => responseWith({ ...list, more: "x".repeat(2 ** 20) }), /larger/],
    ["no lifetimes", () => responseWith(list, { "cdn-cache-control": "" }), /may not be stored/],
    ["no-store", () => responseWith(list, { "cache-control": "no-store" }), /may not be stored/],
    [
      "a changed body",
      async () => ({ ...(await responseWith()), body: new TextEncoder().encode("{}") }),
      /digest/,
    ],
    ["a changed tag", () => responseWith(list, { etag: '"other"' }), /signature/],
    ["no signature", () => responseWith(list, { signature: "" }), /signature/],
    ["another region", () => responseWith({ ...list, region: "FR" }), /region/],
    ["no date that can be read", () => responseWith({ ...list, generated_at: "yesterday" }), /older/],
    ["a problem that is not the client's", async () => problemWith(400, "edge-signature"), /status 400/],
    ["a problem with another status", async () => problemWith(404, "invalid-parameter"), /status 404/],
    [
      "a problem whose body says 200",
      async () => problemWith(400, "invalid-parameter", { status: 200 }),
      /status 400/,
    ],
    ["status 404 and HTML", async () => problemWith(404, "not-found", { type: "text/html" }), /status 404/],
    ["a refused edge signature", async () => problemWith(403, "edge-signature"), /status 403/],
    ["nothing published yet", async () => problemWith(503, "not-ready"), /status 503/],
  ];
  test.each(cases)("%s", async (_, make, reason) => {
    expect(await validate(await make())).toEqual({ kind: "invalid", reason: expect.stringMatching(reason) });
  });

  test("a ranking older than the stored one", async () => {
    const stored = { generatedAt: generatedAt + 1 } as StoredResponse;
    expect(await validate(await responseWith(), { stored })).toMatchObject({ kind: "invalid" });
  });

  test("another document", async () => {
    const video: CanonicalRequest = { target: "/api/videos/a", query: null, regionFromCountry: false };
    expect(await validate(await responseWith({ id: "b" }), { request: video })).toMatchObject({
      kind: "invalid",
    });
    expect(await validate(await responseWith({ id: "a" }), { request: video })).toMatchObject({
      kind: "response",
    });
  });

  test("a key that is not pinned", async () => {
    expect(await validate(await responseWith(), { keys: { keys: [] } })).toMatchObject({ kind: "invalid" });
  });
});

test.each([
  [400, "invalid-parameter"],
  [404, "not-found"],
  [410, "generation-gone"],
])("a %p problem is the client's", async (status, kind) => {
  expect(await validate(problemWith(status, kind))).toMatchObject({ kind: "problem", problem: { status } });
});
