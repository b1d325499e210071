import { describe, expect, test } from "bun:test";
import { answerSeconds, edgeLifetimes } from "@trendvault/contract/lists";
import { countries, europeByRegion } from "@trendvault/kit/regions";
import {
  browserCacheControl,
  type CanonicalRequest,
  canonicalize,
  canonicalPath,
  freshnessAt,
  freshUntil,
  frontPageName,
  isList,
  isPage,
  mayBeMissing,
  onlyMonotonic,
  onlyUsable,
  readLifetimes,
  redactedTarget,
  usableSeconds,
} from "./policy.ts";

function readAt(pathname: string, search: string, country?: string) {
  return canonicalize({ pathname, search }, country);
}

function read(search: string, country?: string) {
  return readAt("/api/trending", search, country);
}

/** What is asked of a request's canonical form. */
function ask<T>(
  { canonical }: ReturnType<typeof readAt>,
  ...questions: ((of: CanonicalRequest) => T)[]
): T[] | null {
  return canonical && questions.map((question) => question(canonical));
}

function keyOf(search: string): string | null {
  return read(search, "PL").canonical?.target ?? null;
}

test("what items have is a part of the key, in its place", () => {
  const key = "/api/trending?region=DE&category=Music&fields=chart&limit=10";
  expect(keyOf("?fields=chart&limit=10&category=Music&region=de")).toBe(key);
});

test("a language has one spelling, whatever the case", () => {
  const key = "/api/trending?region=DE&window=now&language=de";
  for (const tag of ["de", "DE", "dE", "%64e"])
    expect(keyOf(`?language=${tag}&window=now&region=de`)).toBe(key);
});

describe("one and the same key", () => {
  const key = "/api/trending?region=DE&window=week&category=Music&limit=10";
  test.each([
    "?region=DE&window=week&category=Music&limit=10",
    "?limit=10&category=Music&window=week&region=DE",
    "?region=de&window=week&category=Music&limit=10",
    "?%72egion=%44E&window=week&category=%4Dusic&limit=1%30",
    "?&region=DE&&window=week&category=Music&limit=10&",
  ])("%s", (search) => {
    expect(keyOf(search)).toBe(key);
  });

  test.each(["", "?", "?window=day", "?limit=24", "?window=day&limit=24&region=pl"])(
    "defaults make no other key: '%s'",
    (search) => {
      expect(keyOf(search)).toBe("/api/trending?region=PL");
    },
  );
});

describe("no key at all", () => {
  test.each([
    "?x=1",
    "?region=DE&region=DE",
    "?region=DE&Region=DE",
    "?region=US",
    "?region=",
    "?region=D%45%20",
    "?window=DAY",
    "?fields=",
    "?fields=all",
    "?fields=chart,snippet",
    "?limit=051",
    "?limit=0",
    "?limit=51",
    "?limit=1e1",
    "?category=",
    "?language=",
    "?language=de-AT",
    "?language=*",
    "?language=de&category=Music",
    "?audience=adults",
    "?live=NOW",
    "?duration=medium",
    "?duration=short&category=Music",
    "?audience=kids&language=de",
    "?live=now&duration=long",
    "?cursor=1",
    "?cursor=01-24",
    "?utm_source=x",
    "?_=1732096800",
  ])("%s", (search) => {
    const { canonical, invalid } = read(search, "PL");
    expect(canonical).toBeNull();
    expect(invalid).not.toEqual([]);
  });
});

test("the country decides only where the URL does not", () => {
  expect(read("", "CH").canonical).toMatchObject({
    target: "/api/trending?region=DE",
    regionFromCountry: true,
  });
  expect(read("?region=FR", "CH").canonical).toMatchObject({
    target: "/api/trending?region=FR",
    regionFromCountry: false,
  });
});

test.each([
  ["?region=DE", "DE/day"],
  ["?region=DE&window=now", "DE/now"],
  ["?region=DE&limit=10", null],
  ["?region=DE&fields=chart", null],
  ["?region=DE&titles=fr", null],
  ["?region=DE&category=Music", null],
  ["?region=DE&language=de", null],
  ["?region=DE&audience=kids", null],
  ["?region=DE&cursor=7-24", null],
])("%s is kept as a front page under %p", (search, name) => {
  expect(ask(read(search), frontPageName)).toEqual([name]);
});

test("what a visitor has typed stays out of the log", () => {
  const logged = (search: string) => ask(read(search), redactedTarget)?.[0];
  expect(logged("?category=my+name&cursor=7-24")).toBe(
    "/api/trending?region=GB&category=(hidden)&cursor=7-24",
  );
  expect(logged("?limit=10")).toBe("/api/trending?region=GB&limit=10");
});

describe("a document", () => {
  test("is its path", () => {
    const { canonical } = readAt("/api/regions", "", "DE");
    expect(canonical).toEqual({ target: "/api/regions", query: null, regionFromCountry: false });
  });

  test("for search engines may not exist", () => {
    for (const path of ["/robots.txt", "/sitemap.xml"]) {
      const { canonical } = readAt(path, "", "DE");
      expect([canonical?.target, canonical && mayBeMissing(canonical)]).toEqual([path, true]);
    }
    expect(ask(readAt("/about", ""), mayBeMissing)).toEqual([false]);
  });

  test("takes no parameters", () => {
    expect(readAt("/openapi.json", "?x=1").canonical).toBeNull();
  });
});

describe("a page for people", () => {
  const page = (search: string, country?: string) => readAt("/", search, country);

  test("is of the visitor's country where the URL names no region", () => {
    expect(page("?lang=en", "PL").canonical).toMatchObject({
      target: "/?region=PL&lang=en",
      regionFromCountry: true,
    });
    expect(page("?lang=pl&region=pl", "DE").canonical).toMatchObject({
      target: "/?region=PL",
      regionFromCountry: false,
    });
  });

  test("is no list, but its front page is one like that of a list, in the region's own language", () => {
    const about = (search: string) => ask<boolean | string | null>(page(search), isPage, frontPageName);
    expect(about("?region=PL")).toEqual([true, "PL/day/page"]);
    expect(about("?region=PL&lang=en")).toEqual([true, null]);
    expect(about("?region=PL&category=Music")).toEqual([true, null]);
  });
});

describe("an embedded page", () => {
  const embed = (search: string) => readAt("/embed", search, "PL");

  test("has one key for a list, of its first ranks only", () => {
    const target = (search: string) => embed(search).canonical?.target;
    expect(target("?window=now&utm_source=x&region=de&cursor=7-24&lang=en")).toBe(
      "/embed?region=DE&window=now&lang=en",
    );
    expect(target("")).toBe("/embed?region=PL");
    expect(embed("?lang=xx").invalid).not.toBeNull();
  });

  test("is a list that somebody looks at, and no front page that is kept", () => {
    const about = ask<boolean | string | null>(embed("?region=PL"), isPage, isList, frontPageName);
    expect(about).toEqual([true, true, null]);
  });
});

describe("oEmbed", () => {
  const page = (address: string) => `?url=${encodeURIComponent(address)}`;
  const target = (search: string) => readAt("/oembed", search, "PL").canonical?.target;
  const keyOf = (address: string, more = "") => `/oembed${page(address)}${more}`;

  test("has one key for a page of a host and the largest frame that there is room for", () => {
    const url = page("https://trending.example.com/?window=now&region=de&utm_source=x#top").slice(1);
    const key = keyOf("https://trending.example.com/?region=DE&window=now");
    expect(target(`?${url}&maxwidth=1200&maxheight=900&dnt=1&format=json`)).toBe(key);
    expect(target(`?maxwidth=580&${url}&maxheight=750`)).toBe(`${key}&maxwidth=500`);
    expect(target(`?${url}&maxheight=20`)).toBe(`${key}&maxwidth=300`);
    expect(target(`?${url}&maxwidth=0`)).toBe(`${key}&maxwidth=300`);
    expect(target(`?${url}&maxwidth=many`)).toBe(key);
    const german = keyOf("https://a.example:8443/?region=DE");
    for (const same of ["http://A.example:8443/embed?region=DE", "https://a.example:8443?region=de#x"])
      expect(target(page(same))).toBe(german);
    for (const same of ["https://a.example", "https://a.example:443/", "http://a.example:80"])
      expect(target(page(same))).toBe(keyOf("https://a.example/?region=PL"));
    const kids = target(page("https://a.example/?region=DE&category=Kids'%20TV"));
    expect(kids).toBe("/oembed?url=https%3A%2F%2Fa.example%2F%3Fregion%3DDE%26category%3DKids%2527%2520TV");
    expect(target(kids?.slice("/oembed".length) ?? "")).toBe(kids);
  });

  test("is of a page that is named, as JSON", () => {
    const refused = (search: string) => {
      const { kind, invalid } = readAt("/oembed", search) as { kind?: string; invalid: { name: string }[] };
      return [kind, invalid[0]?.name];
    };
    for (const none of [
      "",
      "?region=DE",
      page("https://a.example/about"),
      page("javascript:alert(1)"),
      page("//a"),
    ])
      expect(refused(none)).toEqual(["invalid-parameter", "url"]);
    expect(refused(page("https://a.example/?region=XX"))).toEqual([undefined, "region"]);
    expect(refused(`${page("https://a.example/")}&format=xml`)).toEqual(["not-implemented", "format"]);
  });

  test("may not exist, and is no list that somebody looks at, and no front page that is kept", () => {
    const asked = readAt("/oembed", page("https://visitor.example/?region=DE"));
    expect(asked.canonical && mayBeMissing(asked.canonical)).toBe(true);
    expect(ask<boolean | string | null>(asked, isList, frontPageName)).toEqual([false, null]);
    expect(ask(asked, redactedTarget)).toEqual(["/oembed?url=(hidden)"]);
  });
});

describe("a feed", () => {
  const feed = (search: string, path = "/feeds/pl.atom") => readAt(path, search, "DE");

  test("is of the region in its path, whatever the visitor's country is", () => {
    expect(feed("?window=now").canonical).toMatchObject({
      target: "/feeds/PL.atom?window=now",
      query: { region: "PL", window: "now" },
      regionFromCountry: false,
    });
    expect(feed("?region=PL").canonical).toBeNull();
  });

  test("is no front page that is kept, and no list that somebody looks at", () => {
    expect(ask<boolean | string | null>(feed(""), frontPageName, isList)).toEqual([null, false]);
  });
});

describe("an export", () => {
  const exported = (search: string) => readAt("/api/export/pl.ndjson", search, "DE");

  test("is of the region in its path, and of all windows unless one is named", () => {
    const read = (search: string) => exported(search).canonical?.target;
    expect([read(""), read("?window=day")]).toEqual([
      "/api/export/PL.ndjson",
      "/api/export/PL.ndjson?window=day",
    ]);
    expect(exported("").canonical).toMatchObject({ query: { region: "PL" }, regionFromCountry: false });
    expect(exported("?region=PL").canonical).toBeNull();
  });

  test("is no front page that is kept, and no list that somebody looks at; it cannot be missing", () => {
    const about = ask<boolean | string | null>(exported("?window=now"), frontPageName, isList, mayBeMissing);
    expect(about).toEqual([null, false, false]);
  });
});

describe("the explanation of a rank", () => {
  const canonicalOf = (pathname: string, search: string) => readAt(pathname, search, "PL");

  test.each([
    ["/api/videos/a%3Ab/explain", "?window=now&region=de", "/api/videos/a:b/explain?region=DE&window=now"],
    ["/api/videos/x/explain", "?window=day&region=DE", "/api/videos/x/explain?region=DE"],
    ["/api/videos/x/explain", "", "/api/videos/x/explain?region=PL"],
  ])("%s%s has one key", (pathname, search, target) => {
    const { canonical } = canonicalOf(pathname, search);
    const regionFromCountry = search === "";
    expect(canonical).toEqual({ target, query: null, regionFromCountry });
    expect(canonical && mayBeMissing(canonical)).toBe(true);
  });

  test.each(["?limit=5", "?region=DE&region=DE", "?window=hour", "?category=Music", "?cursor=7-24"])(
    "the query %s is refused",
    (search) => expect(canonicalOf("/api/videos/x/explain", search).canonical).toBeNull(),
  );
});

test.each([
  ["/api/trending", "/api/trending"],
  ["/api/regions", "/api/regions"],
  ["/api/videos/dQw4w9WgXcQ", "/api/videos/dQw4w9WgXcQ"],
  ["/openapi.json", "/openapi.json"],
  ["/.well-known/jwks.json", "/.well-known/jwks.json"],
  ["/api/videos/a%3Ab", "/api/videos/a:b"],
  ["/", "/"],
  ["/about", "/about"],
  ["/assets/page-zn5jxh5g.js", "/assets/page-zn5jxh5g.js"],
  ["/service-worker.js", "/service-worker.js"],
  ["/problems/busy", "/problems/busy"],
  ["/feeds/PL.json", "/feeds/PL.json"],
  ["/feeds/PL.rss", null],
  ["/api/export/pl.ndjson", "/api/export/pl.ndjson"],
  ["/api/export/XX.ndjson", null],
  ["/api/export/PL.json", null],
  ["/feeds/XX.atom", null],
  ["//", null],
  ["/about/", null],
  ["/assets/", null],
  ["/assets/../x.js", null],
  ["/assets/a/b.js", null],
  ["/assets/%2e%2e.js", null],
  ["/assets/picture.png", null],
  ["/problems", null],
  ["/problems/", null],
  ["/problems/toString", null],
  ["/problems/busy/", null],
  ["/problems/BUSY", null],
  ["/api/trending/", null],
  ["/API/trending", null],
  ["/api/%74rending", null],
  ["/api//trending", null],
  ["/api/videos/", null],
  ["/api/videos/a/b", null],
  ["/api/videos/..%2f", null],
  [`/api/videos/${"x".repeat(65)}`, null],
  ["/metrics", null],
  ["/healthz", null],
])("%s has the canonical path %p", (pathname, expected) => {
  expect(canonicalPath(pathname)).toBe(expected);
});

test("there are 250 countries: the 249 of ISO 3166-1 and Kosovo", () => {
  expect(new Set(countries).size).toBe(250);
});

const regionOf = (country?: string) => read("", country).canonical?.query?.region;

describe("in Europe", () => {
  test.each(Object.entries(europeByRegion))("%s is the region of %s", (region, codes) => {
    expect(codes.split(" ").map((code) => regionOf(code))).toEqual(codes.split(" ").map(() => region));
  });
});

test("every country outside Europe gets GB", () => {
  const european = Object.values(europeByRegion).join(" ").split(" ");
  const elsewhere = countries.filter((country) => !european.includes(country));
  expect(elsewhere).toHaveLength(250 - 53);
  expect(new Set(elsewhere.map((code) => regionOf(code)))).toEqual(new Set(["GB"]));
});

test.each([undefined, "", "T1", "XX", "de", "constructor", "__proto__"])("%p gets GB", (country) => {
  expect(regionOf(country)).toBe("GB");
});

test("what the origin sends is read", () => {
  const lifetimes = { maxAge: 120, staleWhileRevalidate: 600, staleIfError: 86_400 };
  expect(readLifetimes(edgeLifetimes.answer)).toEqual(lifetimes);
  expect(usableSeconds(lifetimes)).toBe(86_520);
  const missing = { maxAge: 60, staleWhileRevalidate: 0, staleIfError: 0 };
  expect(readLifetimes(edgeLifetimes.missing)).toEqual(missing);
  expect(usableSeconds(missing)).toBe(60);
});

test("upper case and missing blanks make no difference", () => {
  expect(readLifetimes("Max-Age=12,Stale-If-Error=5")).toEqual({
    maxAge: 12,
    staleWhileRevalidate: 0,
    staleIfError: 5,
  });
});

test("no response is used for longer than an hour, or a day while the origin fails", () => {
  const forEver = "max-age=999999999, stale-while-revalidate=999999999, stale-if-error=999999999";
  const longest = { maxAge: 3600, staleWhileRevalidate: 3600, staleIfError: 86_400 };
  expect(readLifetimes(forEver)).toEqual(longest);
});

test.each([
  [120, 0, "public, max-age=30, stale-while-revalidate=60"],
  [120, 95, "public, max-age=125, stale-while-revalidate=60"],
  [120, 700, "public, max-age=720, stale-while-revalidate=0"], // the end of its life
  [120, 900, "public, max-age=900, stale-while-revalidate=0"],
  [2, 0, "public, max-age=2, stale-while-revalidate=60"], // no longer than a cache
])("of a response for %p s, at an age of %p, a browser is told %s", (maxAge, age, expected) => {
  const times = { maxAge, staleWhileRevalidate: 600, staleIfError: 0 };
  expect(browserCacheControl(times, { regionFromCountry: false, age })).toBe(expected);
  const own = expected.replace("public", "private");
  expect(browserCacheControl(times, { regionFromCountry: true, age })).toBe(own);
});

test.each([
  ["nothing", ""],
  ["no-store", "no-store, max-age=120"],
  ["private", "private, max-age=30"],
  ["no-cache", "no-cache, max-age=30"],
  ["a lifetime that is not a number", "max-age=soon"],
  ["a negative lifetime", "max-age=-1"],
])("%s: may not be kept", (_, field) => {
  expect(readLifetimes(field)).toBeNull();
});

const lifetimes = {
  maxAge: 120,
  staleWhileRevalidate: 600,
  staleIfError: 86_400,
};

const cases: [
  string,
  { generatedAt: number; fetchedAt: number; now: number },
  ReturnType<typeof freshnessAt>,
][] = [
  ["just made", { generatedAt: 1000, fetchedAt: 1000, now: 1000 }, "fresh"],
  ["made in our clock's future", { generatedAt: 1030, fetchedAt: 1000, now: 1000 }, "fresh"],
  ["made far in our clock's future", { generatedAt: 9e9, fetchedAt: 1000, now: 1120 }, "stale"],
  ["stored by a clock that is 60 s ahead", { generatedAt: 1000, fetchedAt: 1060, now: 1000 }, "fresh"],
  ["stored in our clock's future", { generatedAt: 1000, fetchedAt: 1061, now: 1000 }, "expired"],
  [
    "stored a day in our clock's future",
    { generatedAt: 1000, fetchedAt: 1000 + 86_400, now: 1000 },
    "unusable",
  ],
  ["at the end of its lifetime", { generatedAt: 1000, fetchedAt: 1000, now: 1119 }, "fresh"],
  ["past its lifetime", { generatedAt: 1000, fetchedAt: 1000, now: 1120 }, "stale"],
  ["fetched late: the age of the ranking counts", { generatedAt: 1000, fetchedAt: 1080, now: 1120 }, "stale"],
  ["old, but it has just been fetched", { generatedAt: 1000, fetchedAt: 9000, now: 9029 }, "fresh"],
  ["old, and fetched a while ago", { generatedAt: 1000, fetchedAt: 9000, now: 9030 }, "stale"],
  ["at the end of staleness", { generatedAt: 1000, fetchedAt: 1000, now: 1719 }, "stale"],
  ["past staleness", { generatedAt: 1000, fetchedAt: 1000, now: 1720 }, "expired"],
  ["a day later", { generatedAt: 1000, fetchedAt: 1000, now: 1000 + 86_519 }, "expired"],
  ["past everything", { generatedAt: 1000, fetchedAt: 1000, now: 1000 + 86_520 }, "unusable"],
];

test.each(cases)("a response %s", (_, { now, ...times }, expected) => {
  expect(freshnessAt(now, { ...times, lifetimes })).toBe(expected);
});

test("a response is never served so long that its token has expired", () => {
  const longest =
    answerSeconds.fresh + answerSeconds.stale + answerSeconds.browserFresh + answerSeconds.browserStale;
  expect(longest).toBeLessThan(14 * 60);
});

test("without a word about staleness a response is unusable when it is no longer fresh", () => {
  const strict = { ...lifetimes, staleWhileRevalidate: 0, staleIfError: 0 };
  const times = { generatedAt: 1000, fetchedAt: 1000, lifetimes: strict };
  expect(freshnessAt(1119, times)).toBe("fresh");
  expect(freshnessAt(1120, times)).toBe("unusable");
  expect(freshnessAt(939, times)).toBe("unusable");
  expect(freshUntil(times)).toBe(1120);
});

const storedAt = (fetchedAt: number) => ({ generatedAt: 1000, fetchedAt, lifetimes });

test.each([
  ["just fetched", 1000, 1000, { isUsable: true, isBound: true }],
  ["of a clock that is a minute ahead", 1060, 1000, { isUsable: true, isBound: true }],
  ["of a clock that is further ahead", 1061, 1000, { isUsable: true, isBound: false }],
  ["past every lifetime", 1000, 1000 + 86_520, { isUsable: false, isBound: true }],
])("what is %s may be served, or bound what comes after it", (_, fetchedAt, now, expected) => {
  const stored = storedAt(fetchedAt);
  const found = {
    isUsable: onlyUsable(stored, now) === stored,
    isBound: onlyMonotonic(stored, now) === stored,
  };
  expect(found).toEqual(expected);
});

test("without a stored response there is no bound", () => {
  expect([onlyUsable(null, 0), onlyMonotonic(null, 0)]).toEqual([null, null]);
});
