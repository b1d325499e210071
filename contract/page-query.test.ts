import { expect, test } from "bun:test";
import { pageLanguages, pageUrl } from "./page.ts";
import { parsePageQuery } from "./queries.ts";

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
  ["utm_source=x&region=DE&fbclid=1&limit=5&limit=6&fields=chart", "/?region=DE"],
])("the page of %p is %s", (search, url) => {
  const { query } = parsePageQuery(search);
  expect(query && pageUrl(query)).toBe(url);
  expect(parsePageQuery(url.slice(1)).query).toEqual(
    query && { ...query, lang: query.lang === "pl" ? undefined : query.lang },
  );
});

test.each(["lang=xx", "lang=", "lang=EN", "lang=en&lang=de", "region=XX", "category=", "cursor=7-5"])(
  "a page of %p is refused, with what is allowed",
  (search) => {
    expect(parsePageQuery(search).invalid?.[0]?.detail).toStartWith("expected");
  },
);

test("there is a language of the page for every region", () => {
  expect([...pageLanguages]).toEqual(["en", "de", "fr", "es", "it", "nl", "pl", "sv", "pt", "da", "cs"]);
});
