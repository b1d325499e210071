import { describe, expect, test } from "bun:test";
import type { TrendingQuery } from "@trendvault/contract/trending-query";
import { type PageIdentity, pageMismatch } from "./page-mismatch.ts";

const minute = 29_919_600;
const now = minute * 60 + 30;
const query: TrendingQuery = { region: "DE", window: "day", limit: 24 };

function token(region: string, count: number, createdAt = minute): string {
  return `v1.k1.${region}.${count}.${createdAt}.${"A".repeat(22)}`;
}

const page: PageIdentity = {
  region: "DE",
  window: "day",
  category: null,
  generation: 7,
  count: 24,
  token: token("DE", 24),
};

describe("is the page that was requested:", () => {
  const cases: [string, Partial<PageIdentity>, Partial<TrendingQuery>][] = [
    ["the list", {}, {}],
    ["a shorter list", { count: 3, token: token("DE", 3) }, {}],
    ["an empty list", { count: 0, token: token("DE", 0) }, {}],
    ["the category", { category: "Music" }, { category: "Music" }],
    ["a page of the generation", {}, { cursor: "7-24" }],
    [
      "a token of the next minute, the origin's clock being ahead",
      { token: token("DE", 24, minute + 1) },
      {},
    ],
    ["a token of a quarter of an hour ago", { token: token("DE", 24, minute - 15) }, {}],
  ];
  test.each(cases)("%s", (_, changed, requested) => {
    expect(pageMismatch({ ...page, ...changed }, { ...query, ...requested }, now)).toBeNull();
  });
});

describe("is not the page that was requested:", () => {
  const cases: [string, Partial<PageIdentity>, Partial<TrendingQuery>][] = [
    ["another region", { region: "FR", token: token("FR", 24) }, {}],
    ["another window", { window: "week" }, {}],
    ["a category, where all were requested", { category: "Music" }, {}],
    ["all, where a category was requested", {}, { category: "Music" }],
    ["more items than requested", { count: 50, token: token("DE", 50) }, {}],
    ["a page of another generation", {}, { cursor: "6-24" }],
    ["another region's token", { token: token("FR", 24) }, {}],
    ["another list's token", { token: token("DE", 10) }, {}],
    ["no token", { token: "" }, {}],
    ["a token that has expired", { token: token("DE", 24, minute - 16) }, {}],
    ["a token of the future", { token: token("DE", 24, minute + 2) }, {}],
  ];
  test.each(cases)("%s", (_, changed, requested) => {
    expect(pageMismatch({ ...page, ...changed }, { ...query, ...requested }, now)).toBeString();
  });

  test("nothing at all", () => {
    expect(pageMismatch({} as PageIdentity, query, now)).toBeString();
  });
});
