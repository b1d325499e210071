import { describe, expect, test } from "bun:test";
import {
  canonicalize,
  isFrontPage,
  isList,
  isPage,
  mayBeMissing,
  redactedTarget,
} from "./canonical-request.ts";

function read(search: string, country?: string) {
  return canonicalize({ pathname: "/api/trending", search }, country);
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
  ["?region=DE", true],
  ["?region=DE&window=now", true],
  ["?region=DE&limit=10", false],
  ["?region=DE&fields=chart", false],
  ["?region=DE&category=Music", false],
  ["?region=DE&language=de", false],
  ["?region=DE&cursor=7-24", false],
])("%s is a front page: %p", (search, expected) => {
  const query = read(search).canonical?.query;
  expect(query && isFrontPage(query)).toBe(expected);
});

test("what a visitor has typed stays out of the log", () => {
  const logged = (search: string) => {
    const { canonical } = read(search);
    return canonical && redactedTarget(canonical);
  };
  expect(logged("?category=my+name&cursor=7-24")).toBe(
    "/api/trending?region=GB&category=(hidden)&cursor=7-24",
  );
  expect(logged("?limit=10")).toBe("/api/trending?region=GB&limit=10");
});

describe("a document", () => {
  test("is its path", () => {
    const { canonical } = canonicalize({ pathname: "/api/regions", search: "" }, "DE");
    expect(canonical).toEqual({ target: "/api/regions", query: null, regionFromCountry: false });
  });

  test("takes no parameters", () => {
    expect(canonicalize({ pathname: "/openapi.json", search: "?x=1" }).canonical).toBeNull();
  });
});

describe("a page for people", () => {
  const page = (search: string, country?: string) => canonicalize({ pathname: "/", search }, country);

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
    const isFront = (search: string) => {
      const { canonical } = page(search);
      return canonical?.query && [isPage(canonical), isFrontPage(canonical.query)];
    };
    expect(isFront("?region=PL")).toEqual([true, true]);
    expect(isFront("?region=PL&lang=en")).toEqual([true, false]);
    expect(isFront("?region=PL&category=Music")).toEqual([true, false]);
  });
});

describe("a feed", () => {
  const feed = (search: string, path = "/feeds/pl.atom") => canonicalize({ pathname: path, search }, "DE");

  test("is of the region in its path, whatever the visitor's country is", () => {
    expect(feed("?window=now").canonical).toMatchObject({
      target: "/feeds/PL.atom?window=now",
      query: { region: "PL", window: "now" },
      regionFromCountry: false,
    });
    expect(feed("?region=PL").canonical).toBeNull();
  });

  test("is no front page that is kept, and no list that somebody looks at", () => {
    const { canonical } = feed("");
    expect(canonical?.query && [isFrontPage(canonical.query), isList(canonical)]).toEqual([false, false]);
  });
});

describe("an export", () => {
  const exported = (search: string) => canonicalize({ pathname: "/api/export/pl.ndjson", search }, "DE");

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
    const { canonical } = exported("?window=now");
    const is = canonical?.query && [isFrontPage(canonical.query), isList(canonical), mayBeMissing(canonical)];
    expect(is).toEqual([false, false, false]);
  });
});

describe("the explanation of a rank", () => {
  const canonicalOf = (pathname: string, search: string) => canonicalize({ pathname, search }, "PL");

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
