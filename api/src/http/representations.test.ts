import { afterEach, beforeEach, expect, test } from "bun:test";
import { exposedFields } from "@trendvault/contract/http";
import { bodyOnlyFields } from "@trendvault/contract/signature-base";
import { askIn } from "../../test-support/ask-in.ts";
import type { DatabaseBuilder } from "../../test-support/database-builder.ts";
import { closePublishedOrigin, openPublishedOrigin } from "../../test-support/published-origin.ts";
import type { TestOrigin } from "../../test-support/test-origin.ts";

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  ({ builder, origin } = await openPublishedOrigin());
});
afterEach(() => closePublishedOrigin({ builder, origin }));

test("each coding is the same JSON, smaller, with a strong entity tag of its own", async () => {
  const plain = await askIn(origin, "identity");
  const tags = new Set<string | null>();
  for (const encoding of ["br", "zstd", "gzip"]) {
    const coded = await askIn(origin, encoding);
    expect(coded.headers.get("content-encoding")).toBe(encoding);
    expect(coded.coded.length).toBeLessThan(plain.coded.length / 2);
    expect(coded.body).toEqual(plain.body);
    expect(coded.headers.get("unencoded-digest")).toBe(plain.headers.get("unencoded-digest"));
    tags.add(coded.headers.get("etag"));
  }
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(tags.add(plain.headers.get("etag")).size).toBe(4);
});

test("an entity tag of one coding does not answer for another", async () => {
  const etag = (await askIn(origin, "br")).headers.get("etag") ?? "";
  const ask = (encoding: string) =>
    origin.ask("/api/trending", { headers: { "accept-encoding": encoding, "if-none-match": etag } });
  expect((await ask("br")).status).toBe(304);
  expect((await ask("gzip")).status).toBe(200);
});

test("a client that refuses every coding gets 406", async () => {
  const response = await origin.ask("/api/trending", { headers: { "accept-encoding": "identity;q=0" } });
  expect([response.status, response.headers.get("vary")]).toEqual([406, "Accept-Encoding"]);
});

test("only an answer that was built for the request says how long that took", async () => {
  expect((await origin.ask("/api/trending")).headers.get("server-timing")).toMatch(/^build;dur=[0-9.]+$/);
  expect((await origin.ask("/api/trending")).headers.get("server-timing")).toBeNull();
});

test("HEAD has the fields of GET, on every path, but none that only a body can be held against", async () => {
  for (const target of ["/api/trending", "/api/regions", "/api/videos/video1", "/openapi.json", "/healthz"]) {
    const [get, head] = [await origin.ask(target), await origin.ask(target, { method: "HEAD" })];
    for (const name of ["server-timing", ...bodyOnlyFields]) get.headers.delete(name);
    expect([head.status, head.headers]).toEqual([get.status, get.headers]);
  }
});

const anySite = { origin: "https://partner.example" };

test.each([
  ["GET", "/api/trending", 200],
  ["HEAD", "/api/trending", 200],
  ["GET", "/api/regions", 200],
  ["GET", "/api/videos/video1", 200],
  ["GET", "/openapi.json", 200],
  ["GET", "/.well-known/jwks.json", 200],
  ["GET", "/problems/busy", 200],
  ["OPTIONS", "/api/trending", 204],
  ["GET", "/api/trending?x=1", 400],
  ["GET", "/api/videos/none", 404],
  ["GET", "/nothing", 404],
  ["POST", "/api/trending", 405],
  ["GET", "/api/trending?cursor=999-24", 410],
])("scripts of any site may read %s %s (%d), without credentials", async (method, target, status) => {
  const response = await origin.ask(target, { method, headers: anySite });
  expect(response.status).toBe(status);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(response.headers.get("access-control-expose-headers")).toBe(exposedFields.join(", "));
  expect(response.headers.get("timing-allow-origin")).toBe("*");
  expect(response.headers.has("access-control-allow-credentials")).toBe(false);
});

test("scripts of any site may make a conditional request, and need to ask for that once a day", async () => {
  const headers = {
    ...anySite,
    "access-control-request-method": "GET",
    "access-control-request-headers": "if-none-match",
  };
  const preflight = await origin.ask("/api/trending", { method: "OPTIONS", headers });
  expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
  expect(preflight.headers.get("access-control-allow-headers")).toBe("If-None-Match");
  expect(preflight.headers.get("access-control-max-age")).toBe("86400");
});
