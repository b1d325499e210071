import { expect, test } from "bun:test";
import { builtInRegions, useRegions } from "@trendvault/contract/regions";
import { forPerson, handleRequest, networkOf, refuse } from "./handle-request.ts";
import type { CachedResponse, ReadThroughCache, RequestContext } from "./read-through.ts";
import type { StoredResponse } from "./signed-answer.ts";

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
type Options = {
  cacheStatus?: CachedResponse["cacheStatus"];
  method?: string;
  ifNoneMatch?: string;
  now?: number;
  regionFromCountry?: boolean;
};

function respond(response: StoredResponse, options: Options = {}): Promise<Response> {
  const {
    cacheStatus = { fwd: null },
    method = "GET",
    ifNoneMatch,
    now = 1000,
    regionFromCountry = false,
  } = options;
  const headers: Record<string, string> = ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch };
  const url = new URL(`https://site.example${regionFromCountry ? "/api/trending" : target}`);
  const request = new Request(url.href, { method, headers });
  const read = async () => ({ kind: "response", response, cacheStatus });
  const cache = { read, clock: () => now } as unknown as ReadThroughCache;
  return handleRequest(request, url, { context: {} as RequestContext, cache, views: null });
}

test.each([
  [1000, 0, "public, max-age=30, stale-while-revalidate=60"],
  [1095.9, 95, "public, max-age=125, stale-while-revalidate=60"],
])("at %p, with an age of %p, a browser is told %s", async (now, age, expected) => {
  const { headers } = await respond(stored, { now });
  expect([headers.get("age"), headers.get("cache-control")]).toEqual([String(age), expected]);
});

test("what does not exist is stored by no browser, and no condition matches it", async () => {
  const response = await respond({ ...stored, status: 404 }, { ifNoneMatch: "*" });
  expect([response.status, response.headers.get("cache-control")]).toEqual([404, "no-store"]);
});

test("one response is sent in every form, in any order", async () => {
  for (let round = 0; round < 2; round++) {
    const head = await respond(stored, { method: "HEAD" });
    expect([head.headers.get("content-length"), head.headers.get("signature")]).toEqual(["14", null]);
    const same = await respond(stored, { ifNoneMatch: '"a"' });
    expect([same.status, same.headers.get("unencoded-digest")]).toEqual([304, null]);
    const chosen = await respond(stored, { regionFromCountry: true });
    expect(chosen.headers.get("cache-control")).toStartWith("private, ");
    const whole = await respond(stored);
    expect([await whole.text(), whole.headers.get("signature")]).toEqual([stored.body, "s"]);
    expect(whole.headers.get("cache-control")).toStartWith("public, ");
    const later = await respond(stored, { now: 1007 });
    expect(later.headers.get("age")).toBe("7");
  }
});

const cases: [string, CachedResponse["cacheStatus"], number, string][] = [
  ["a hit", { fwd: null }, 57.9, "trendvault; hit; ttl=57"],
  [
    "a stale hit",
    { fwd: null, detail: "stale-while-revalidate" },
    -12.1,
    "trendvault; hit; ttl=-13; detail=stale-while-revalidate",
  ],
  [
    "a miss",
    { fwd: "miss", fwdStatus: 200, stored: true, collapsed: false },
    119,
    "trendvault; fwd=miss; fwd-status=200; stored; ttl=119",
  ],
  [
    "a miss that shared another's request",
    { fwd: "miss", fwdStatus: 200, stored: true, collapsed: true },
    119,
    "trendvault; fwd=miss; fwd-status=200; stored; collapsed; ttl=119",
  ],
  [
    "an expired response, the origin failing",
    { fwd: "stale", fwdStatus: 500, detail: "stale-if-error" },
    -900,
    "trendvault; fwd=stale; fwd-status=500; ttl=-900; detail=stale-if-error",
  ],
  [
    "the KV fallback, the origin silent",
    { fwd: "miss", detail: "kv-fallback" },
    -5000,
    "trendvault; fwd=miss; ttl=-5000; detail=kv-fallback",
  ],
];

test.each(cases)("%s", async (_, cacheStatus, ttl, expected) => {
  const response = await respond(stored, { cacheStatus, now: 1120 - ttl });
  expect(response.headers.get("cache-status")).toBe(expected);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:db8::a:b:c:d", "2001:db8:0:0"],
  ["2001:db8::", "2001:db8:0:0"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["", ""],
])("%p is counted under %p", (address, network) => {
  expect(networkOf(address, 4)).toBe(network);
  expect(networkOf(address, 3)).toBe(network.split(":").slice(0, 3).join(":"));
});

test("a person who goes wrong reads the site's own language, or one that is built in where its page was not built", async () => {
  useRegions({ ...builtInRegions, languages: { he: "he.json" } });
  try {
    const askWith = async (built: string[], languages = "he, de") => {
      const asked: string[] = [];
      const fetch = async (url: string) => {
        asked.push(new URL(url).pathname);
        const isBuilt = built.includes(asked.at(-1) ?? "");
        return new Response(isBuilt ? '<meta content=""><meta content="default-src">' : null, {
          status: isBuilt ? 200 : 404,
        });
      };
      const headers = { accept: "text/html", "accept-language": languages };
      const request = new Request("https://site.example/nothing", { headers });
      const log = () => {};
      const page = await forPerson(request, refuse("not-found", "None."), { assets: { fetch }, log });
      expect([page.status, page.headers.get("cache-control")]).toEqual([404, "no-store"]);
      return [page.headers.get("content-type"), ...asked];
    };
    const [he, de] = ["/failures/404-he.html", "/failures/404-de.html"];
    const html = "text/html; charset=utf-8";
    expect(await askWith([he, de])).toEqual([html, he]);
    expect(await askWith([de])).toEqual([html, he, de]);
    expect(await askWith([])).toEqual(["application/problem+json", he, de]);
    expect(await askWith([], "de")).toEqual(["application/problem+json", de]); // once
  } finally {
    useRegions(null);
  }
});
