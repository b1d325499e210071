import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Random } from "@trendvault/kit/random";
import { listLengths } from "./lists.ts";
import { feedUrl, pageLanguages, pageUrl } from "./page.ts";
import {
  describeQueries,
  exportedRegionAt,
  exportUrl,
  feedAt,
  parseExportQuery,
  parseFeedQuery,
  parsePageQuery,
  parseTrendingQuery,
  readCursor,
  trendingUrl,
  writeCursor,
} from "./queries.ts";
import { regions } from "./regions.ts";

test.each([
  ["", "/api/trending?region=GB"],
  ["region=de&limit=24", "/api/trending?region=DE"],
  ["?limit=50&region=Fr", "/api/trending?region=FR&limit=50"],
  ["window=now", "/api/trending?region=GB&window=now"],
  ["limit=10&fields=snippet", "/api/trending?region=GB&fields=snippet&limit=10"],
  ["fields=chart&category=Music", "/api/trending?region=GB&category=Music&fields=chart"],
  ["window=day", "/api/trending?region=GB"],
  ["language=DE&window=now", "/api/trending?region=GB&window=now&language=de"],
  ["limit=10&fields=chart&language=gsW", "/api/trending?region=GB&language=gsw&fields=chart&limit=10"],
  ["category=Film+%26+Animation", "/api/trending?region=GB&category=Film%20%26%20Animation"],
  [
    "cursor=4711-24&limit=1&window=week&region=CZ",
    "/api/trending?region=CZ&window=week&limit=1&cursor=4711-24",
  ],
])("the query %p has the one URL %p", (search, url) => {
  const { query } = parseTrendingQuery(search);
  expect(query === null ? null : trendingUrl(query)).toBe(url);
  expect(parseTrendingQuery(url.slice(url.indexOf("?")))).toEqual(parseTrendingQuery(search));
});

const random = new Random();

test(`the URL of any category is written as fetch() sends it (seed ${random.seed})`, () => {
  const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
  const others = Array.from({ length: 16 }, () => String.fromCodePoint(0xa0 + random.below(0x8000)));
  for (const character of [...ascii, ...others]) {
    const url = trendingUrl({ region: "GB", window: "day", limit: 24, category: `Kids${character}TV` });
    const { pathname, search } = new URL(url, "http://origin.test");
    expect(pathname + search).toBe(url);
    expect(parseTrendingQuery(search).query?.category).toBe(`Kids${character}TV`);
  }
});

test.each([
  ["region=US", "region", "expected one of GB, DE"],
  ["region=", "region", "expected one of GB, DE"],
  ["region=%C4%B1t", "region", "expected one of GB, DE"], // dotless i: its upper case is a plain I
  ["region=D%45%00", "region", "expected one of GB, DE"],
  ["window=month", "window", "expected one of now, day, week"],
  ["window=Day", "window", "expected one of now, day, week"],
  ["limit=0", "limit", "expected a whole number from 1 to 50"],
  ["limit=51", "limit", "expected a whole number from 1 to 50"],
  ["limit=99999999999999999999", "limit", "expected a whole number from 1 to 50"],
  ["limit=1e1", "limit", "expected a whole number from 1 to 50"],
  ["limit=05", "limit", "expected a whole number from 1 to 50"],
  ["limit=-1", "limit", "expected a whole number from 1 to 50"],
  ["limit=", "limit", "expected a whole number from 1 to 50"],
  ["limit=%zz", "limit", "expected a whole number from 1 to 50"],
  ["category=", "category", "of 1 to 60 characters"],
  [`category=${"x".repeat(61)}`, "category", "of 1 to 60 characters"],
  ["language=", "language", "expected the primary subtag of a language"],
  ["language=de-AT", "language", "such as de"],
  ["language=d", "language", "expected the primary subtag of a language"],
  ["language=german", "language", "expected the primary subtag of a language"],
  ["language=*", "language", "expected the primary subtag of a language"],
  ["language=de%00", "language", "expected the primary subtag of a language"],
  ["language=%E2%84%AAo", "language", "expected the primary subtag of a language"], // a Kelvin sign
  ["language=de&language=de", "language", "expected at most once"],
  ["language=de&category=Music", "language", "expected without category"],
  ["category=%23language:de", "category", "expected the name of a category"],
  ["limit=50&language=de&cursor=7-100", "cursor", "the cursor of `next`"],
  ["fields=", "fields", "expected one of snippet, chart"],
  ["fields=Chart", "fields", "expected one of snippet, chart"],
  ["fields=id,title", "fields", "expected one of snippet, chart"],
  ["fields=chart&fields=chart", "fields", "expected at most once"],
  ["titles=", "titles", "expected one of "],
  ["titles=FR", "titles", "fr"],
  ["titles=xx", "titles", "expected one of "],
  ["titles=fr&titles=fr", "titles", "expected at most once"],
  ["cursor=1", "cursor", "the cursor of `next`"],
  ["cursor=0-1", "cursor", "the cursor of `next`"],
  ["cursor=1-1-1", "cursor", "the cursor of `next`"],
  ["cursor=9999999999999999-1", "cursor", "the cursor of `next`"],
  ["cursor=7-25", "cursor", "the cursor of `next`"], // no page of 24 begins there
  ["limit=7&cursor=7-24", "cursor", "the cursor of `next`"],
  ["limit=50&cursor=7-500", "cursor", "the cursor of `next`"], // no list is longer
  ["limit=50&category=Music&cursor=7-100", "cursor", "the cursor of `next`"],
  ["limit=5&limit=5", "limit", "expected at most once"],
  ["page=2", "(unknown)", "expected only region, window, category, language, audience"],
  ["Region=DE", "(unknown)", "expected only region, window, category, language, audience"],
  ["__proto__=1", "(unknown)", "expected only region, window, category, language, audience"],
  ["&=&", "(unknown)", "expected only region, window, category, language, audience"],
])("the query %p is refused: %s: … %s …", (search, name, detail) => {
  const { invalid } = parseTrendingQuery(search);
  expect(invalid).toHaveLength(1);
  expect(invalid?.[0]?.name).toBe(name);
  expect(invalid?.[0]?.detail).toContain(detail);
});

test("every refused parameter is named", () => {
  const { invalid } = parseTrendingQuery("region=XX&limit=x&window=y&colour=red");
  expect(invalid?.map(({ name }) => name).sort()).toEqual(["(unknown)", "limit", "region", "window"]);
});

test(`the description of the API allows the values that the parser allows, and no others (seed ${random.seed})`, () => {
  const { shape } = describeQueries().trending.def;
  const readAs: Record<string, (text: string) => unknown> = {
    region: (text) => text.toUpperCase(),
    language: (text) => text.toLowerCase(),
    limit: (text) => (/^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : text),
  };
  const letters = [..."aZéK09-: "];
  const drawn = Array.from({ length: 32 }, (_, length) =>
    Array.from({ length }, () => random.pick(letters)).join(""),
  );
  const known = [
    "GB",
    "DE",
    "US",
    "now",
    "day",
    "de",
    "kids",
    "short",
    "long",
    "snippet",
    "chart",
    "1-0",
    "0-0",
  ];
  const texts = [...drawn, ...known, "", "0", "1", "50", "51", "x".repeat(60), "x".repeat(61)];
  for (const [name, schema] of Object.entries(shape)) {
    for (const text of texts) {
      const { invalid } = parseTrendingQuery(new URLSearchParams({ [name]: text }).toString());
      const isDescribed = schema.safeParse(readAs[name]?.(text) ?? text).success;
      expect([name, text, invalid === null]).toEqual([name, text, isDescribed]);
    }
  }
});

test("a cursor is read back as it was written", () => {
  expect(readCursor(writeCursor({ generation: 4711, afterRank: 24 }))).toEqual({
    generation: 4711,
    afterRank: 24,
  });
});

test("the last page of the longest list can be requested", () => {
  expect(parseTrendingQuery("limit=50&cursor=7-450").invalid).toBeNull();
  expect(parseTrendingQuery("limit=50&category=Music&cursor=7-50").invalid).toBeNull();
});

test("the writer's longest lists are as long", () => {
  const path = Bun.fileURLToPath(import.meta.resolve("../writer/src/Ranking/TopLists.php"));
  const source = readFileSync(path, "utf8");
  expect(source).toContain(`MAX_RANKS = ${listLengths.longest.all};`);
  expect(source).toContain(`MAX_RANKS_OF_CATEGORY = ${listLengths.longest.category};`);
});

test.each([
  ["", "/?region=GB"],
  ["region=pl", "/?region=PL"],
  ["region=PL&lang=pl", "/?region=PL"],
  ["lang=en&region=PL", "/?region=PL&lang=en"],
  [
    "cursor=7-24&category=Kids'+TV&window=now&region=BE&lang=fr",
    "/?region=BE&window=now&category=Kids%27%20TV&lang=fr&cursor=7-24",
  ],
  ["window=day&region=DE", "/?region=DE"],
  ["lang=fr&live=now&region=DE&window=now", "/?region=DE&window=now&live=now&lang=fr"],
  ["duration=long&language=de&region=DE", "/?region=DE&duration=long"],
  ["utm_source=x&region=DE&fbclid=1&limit=5&limit=6&fields=chart", "/?region=DE"],
])("the page of %p is %s", (search, url) => {
  const { query } = parsePageQuery(search);
  expect(query && pageUrl(query)).toBe(url);
  expect(parsePageQuery(url.slice(1)).query).toEqual(
    query && { ...query, lang: query.lang === "pl" ? undefined : query.lang },
  );
});

test.each([
  "lang=xx",
  "lang=",
  "lang=EN",
  "lang=en&lang=de",
  "region=XX",
  "category=",
  "cursor=7-5",
  "live=no",
  "live=now&category=x",
])("a page of %p is refused, with what is allowed", (search) => {
  expect(parsePageQuery(search).invalid?.[0]?.detail).toStartWith("expected");
});

test("a language that is given twice is said to be that", () => {
  expect(parsePageQuery("lang=en&lang=en").invalid).toEqual([
    { name: "lang", detail: "expected at most once" },
  ]);
});

test("there is a language of the page for every region", () => {
  for (const { code, languages } of regions)
    expect([code, pageLanguages.includes(languages[0] as never)]).toEqual([code, true]);
});

function canonicalFeed(path: string, search: string): string | null {
  const address = feedAt(path);
  if (address === null) return null;
  const { query } = parseFeedQuery(address, search);
  return query && feedUrl(query);
}

test.each([
  ["/feeds/PL.atom", "", "/feeds/PL.atom"],
  ["/feeds/pl.json", "?window=day", "/feeds/PL.json"],
  ["/feeds/DE.json", "?category=Kids'+TV&window=now", "/feeds/DE.json?window=now&category=Kids%27%20TV"],
  ["/feeds/de.atom", "?duration=short&window=now", "/feeds/DE.atom?window=now&duration=short"],
  ["/feeds/DE.json", "?audience=kids", "/feeds/DE.json?audience=kids"],
  ["/feeds/DE.json", "?live=now", "/feeds/DE.json?live=now"],
])("the feed %s%s is %s", (path, search, url) => {
  expect(canonicalFeed(path, search)).toBe(url);
  const [again = "", query = ""] = url.split("?");
  expect(canonicalFeed(again, query)).toBe(url);
});

test.each([
  "/feeds/XX.json",
  "/feeds/PL.rss",
  "/feeds/PL",
  "/feeds/PL.JSON",
  "/feeds/PL.json/",
  "/feeds/.atom",
])("%s is no feed", (path) => {
  expect(feedAt(path)).toBeNull();
});

test.each([
  "?region=PL",
  "?limit=5",
  "?cursor=1-50",
  "?fields=chart",
  "?window=hour",
  "?window=now&window=now",
  "?language=de",
  "?live=now&duration=long",
])("a feed of %p is refused, with what is allowed", (search) => {
  const parsed = parseFeedQuery({ region: "PL", form: "json" }, search);
  expect(parsed.invalid?.[0]?.detail).toStartWith("expected");
});

function canonicalExport(path: string, search: string): string | null {
  const region = exportedRegionAt(path);
  const query = region === null ? null : parseExportQuery(region, search).query;
  return query && exportUrl(query);
}

test.each([
  ["/api/export/PL.ndjson", "", "/api/export/PL.ndjson"],
  ["/api/export/pl.ndjson", "?", "/api/export/PL.ndjson"],
  ["/api/export/DE.ndjson", "?window=day", "/api/export/DE.ndjson?window=day"],
  ["/api/export/DE.ndjson", "?&window=%6eow", "/api/export/DE.ndjson?window=now"],
])("the export %s%s is %s", (path, search, url) => {
  expect(canonicalExport(path, search)).toBe(url);
  const [again = "", query = ""] = url.split("?");
  expect(canonicalExport(again, query)).toBe(url);
});

test.each([
  "/api/export/XX.ndjson",
  "/api/export/PL",
  "/api/export/PL.json",
  "/api/export/PL.NDJSON",
  "/api/export/PL.ndjson/",
  "/api/export/.ndjson",
  "/api/export/P%4c.ndjson",
  "/api/export/",
])("%s is no export", (path) => {
  expect(exportedRegionAt(path)).toBeNull();
});

test.each([
  "?region=PL",
  "?limit=5",
  "?cursor=1-50",
  "?fields=chart",
  "?category=Music",
  "?window=hour",
  "?window=",
  "?window=now&window=now",
])("an export of %p is refused, with what is allowed", (search) => {
  expect(parseExportQuery("PL", search).invalid?.[0]?.detail).toStartWith("expected");
});
