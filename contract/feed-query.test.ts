import { expect, test } from "bun:test";
import { feedUrl } from "./page.ts";
import { feedAt, parseFeedQuery } from "./queries.ts";

function canonical(path: string, search: string): string | null {
  const address = feedAt(path);
  if (address === null) return null;
  const { query } = parseFeedQuery(address, search);
  return query && feedUrl(query);
}

test.each([
  ["/feeds/PL.atom", "", "/feeds/PL.atom"],
  ["/feeds/pl.json", "?window=day", "/feeds/PL.json"],
  ["/feeds/DE.json", "?category=Kids'+TV&window=now", "/feeds/DE.json?window=now&category=Kids%27%20TV"],
])("the feed %s%s is %s", (path, search, url) => {
  expect(canonical(path, search)).toBe(url);
  const [again = "", query = ""] = url.split("?");
  expect(canonical(again, query)).toBe(url);
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
])("a feed of %p is refused, with what is allowed", (search) => {
  const parsed = parseFeedQuery({ region: "PL", form: "json" }, search);
  expect(parsed.invalid?.[0]?.detail).toStartWith("expected");
});
