import { describe, expect, test } from "bun:test";
import type { TrendingQuery } from "@trendvault/contract/trending-query";
import { dependsOnPublished, isDeleted, mayBeNext, readPublished, refuseList } from "./published.ts";

const published = readPublished('{"generation":20,"oldest_generation":11,"categories":["Gaming","Music"]}');
const query: TrendingQuery = { region: "DE", window: "day", limit: 24 };

test("a first page over all categories always exists", () => {
  expect(dependsOnPublished(query)).toBe(false);
  expect(dependsOnPublished(null)).toBe(false);
  expect(dependsOnPublished({ ...query, category: "Music" })).toBe(true);
  expect(dependsOnPublished({ ...query, cursor: "20-24" })).toBe(true);
});

describe("what is published decides that", () => {
  const cases: [string, Partial<TrendingQuery>, string | null][] = [
    ["a page of the newest generation may exist", { cursor: "20-24" }, null],
    ["a page of the oldest generation may exist", { cursor: "11-24" }, null],
    ["a page of a deleted generation is gone", { cursor: "10-24" }, "generation-gone"],
    ["a page of a generation that never was is gone", { cursor: "21-24" }, "generation-gone"],
    ["a category of now may be asked for", { category: "Music" }, null],
    ["another category may not", { category: "Sport" }, "invalid-parameter"],
    ["nor in the newest generation", { category: "Sport", cursor: "20-24" }, "invalid-parameter"],
    ["an older generation may have had it", { category: "Sport", cursor: "19-24" }, null],
  ];
  test.each(cases)("%s", (_, changed, kind) => {
    expect(refuseList({ ...query, ...changed }, published)?.kind ?? null).toBe(kind as never);
  });
});

test("the refusals say what there is instead", () => {
  expect(refuseList({ ...query, category: "Sport" }, published)).toMatchObject({
    detail: "category: expected one of Gaming, Music",
    extras: { invalid: [{ name: "category", detail: "expected one of Gaming, Music" }] },
  });
  expect(refuseList({ ...query, limit: 5, cursor: "1-5" }, published)).toMatchObject({
    extras: { restart: "/api/trending?region=DE&limit=5" },
  });
});

test("a deleted generation stays deleted; the next one may be there at any time", () => {
  const ofGeneration = (generation: number) => ({ ...query, cursor: `${generation}-24` });
  expect([10, 11, 21].map((id) => isDeleted(ofGeneration(id), published))).toEqual([true, false, false]);
  expect([20, 21, 22].map((id) => mayBeNext(ofGeneration(id), published))).toEqual([false, true, false]);
});
