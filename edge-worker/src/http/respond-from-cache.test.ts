import { expect, test } from "bun:test";
import type { StoredResponse } from "../origin/stored-response.ts";
import { respondFromCache } from "./respond-from-cache.ts";

const target = "/api/trending?region=DE";
const stored: StoredResponse = {
  target,
  status: 200,
  body: '{"title":"é"}',
  headers: { "content-type": "application/json", etag: '"a"', "unencoded-digest": "d", signature: "s" },
  generatedAt: 1000,
  fetchedAt: 1000,
  lifetimes: { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 0 },
};
const canonical = { target, query: null, regionFromCountry: false };

type Options = { method?: string; ifNoneMatch?: string; now?: number; regionFromCountry?: boolean };

function respond(response: StoredResponse, options: Options = {}): Response {
  const { method = "GET", ifNoneMatch, now = 1000, regionFromCountry = false } = options;
  const headers: Record<string, string> = ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch };
  const request = new Request(`https://site.example${target}`, { method, headers });
  const result = { kind: "response", response, cacheStatus: { fwd: null } } as const;
  return respondFromCache(result, { canonical: { ...canonical, regionFromCountry }, request, now });
}

test.each([
  [1000, 0, "max-age=30, stale-while-revalidate=60"],
  [1095.9, 95, "max-age=125, stale-while-revalidate=60"],
  [1700, 700, "max-age=720, stale-while-revalidate=0"], // the end of its life
  [1900, 900, "max-age=900, stale-while-revalidate=0"],
])("at %p, with an age of %p, a browser is told %s", (now, age, directives) => {
  const { headers } = respond(stored, { now });
  expect([headers.get("age"), headers.get("cache-control")]).toEqual([String(age), `public, ${directives}`]);
});

test("what does not exist is stored by no browser, and no condition matches it", () => {
  const response = respond({ ...stored, status: 404 }, { ifNoneMatch: "*" });
  expect([response.status, response.headers.get("cache-control")]).toEqual([404, "no-store"]);
});

test("one response is sent in every form, in any order", async () => {
  for (let round = 0; round < 2; round++) {
    const head = respond(stored, { method: "HEAD" });
    expect([head.headers.get("content-length"), head.headers.get("signature")]).toEqual(["14", null]);
    const same = respond(stored, { ifNoneMatch: '"a"' });
    expect([same.status, same.headers.get("unencoded-digest")]).toEqual([304, null]);
    const chosen = respond(stored, { regionFromCountry: true });
    expect(chosen.headers.get("cache-control")).toStartWith("private, ");
    const whole = respond(stored);
    expect([await whole.text(), whole.headers.get("signature")]).toEqual([stored.body, "s"]);
    expect(whole.headers.get("cache-control")).toStartWith("public, ");
    expect(respond(stored, { now: 1007 }).headers.get("age")).toBe("7");
  }
});
