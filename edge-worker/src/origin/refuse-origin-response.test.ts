import { describe, expect, test } from "bun:test";
import type { OriginResponse } from "./fetch-from-origin.ts";
import {
  generatedAt,
  list,
  missing,
  now,
  problemWith,
  request,
  responseWith,
  storedAt,
  validate,
} from "./test-support/responses.ts";

describe("a failure of the origin:", () => {
  const cases: [string, () => Promise<OriginResponse>, RegExp][] = [
    ["status 500", async () => ({ ...(await responseWith()), status: 500 }), /status 500/],
    ["status 206", async () => ({ ...(await responseWith()), status: 206 }), /status 206/],
    ["plain text", () => responseWith("<h1>", { signed: { contentType: "text/plain" } }), /another type/],
    [
      "HTML with the date of no list",
      () =>
        responseWith('<meta content="yesterday"><meta content="">', {
          signed: { contentType: "text/html; charset=utf-8" },
        }),
      /date/,
    ],
    ["JSON by name only, though signed", () => responseWith("{"), /not JSON/],
    ["no lifetimes", () => responseWith(list, { signed: { lifetimes: "" } }), /may not be stored/],
    ["no-store", () => responseWith(list, { signed: { lifetimes: "no-store" } }), /may not be stored/],
    [
      "a changed body",
      async () => ({ ...(await responseWith()), body: new TextEncoder().encode("{}") }),
      /digest/,
    ],
    ["a changed tag", () => responseWith(list, { headers: { etag: '"other"' } }), /signature/],
    [
      "changed lifetimes",
      () => responseWith(list, { headers: { "trendvault-cache-control": "max-age=999999999" } }),
      /signature/,
    ],
    ["no signature", () => responseWith(list, { headers: { signature: "" } }), /signature/],
    [
      "the answer to another request",
      () => responseWith(list, { signed: { location: "/api/trending?region=DE&limit=7" } }),
      /another request/,
    ],
    ["an old signature", () => responseWith(list, { signed: { created: now - 901 } }), /not signed now/],
    [
      "a signature of the future",
      () => responseWith(list, { signed: { created: now + 61 } }),
      /in the future/,
    ],
    ["no date that can be read", () => responseWith({ ...list, generated_at: "yesterday" }), /date/],
    ["400 without a signature", async () => problemWith(400, "invalid-parameter"), /status 400/],
    ["404 without a signature", async () => problemWith(404, "not-found"), /status 404/],
    ["410 without a signature", async () => problemWith(410, "generation-gone"), /status 410/],
    ["a signed 404 for a list that always exists", () => missing(request.target), /status 404/],
    ["a refused edge signature", async () => problemWith(403, "edge-signature"), /status 403/],
    ["nothing published yet", async () => problemWith(503, "not-ready"), /status 503/],
  ];
  test.each(cases)("%s", async (_, make, reason) => {
    expect(await validate(await make())).toEqual({ kind: "invalid", reason: expect.stringMatching(reason) });
  });

  test("a ranking older than the stored one", async () => {
    const stored = { ...storedAt(now), generatedAt: generatedAt + 1 };
    expect(await validate(await responseWith(), { stored })).toMatchObject({ kind: "invalid" });
  });

  test("a key that is not pinned", async () => {
    expect(await validate(await responseWith(), { keys: { keys: [] } })).toMatchObject({ kind: "invalid" });
  });
});
