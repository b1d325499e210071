import { describe, expect, test } from "bun:test";
import type { TrendingQuery } from "@trendvault/contract/queries";
import { dependsOnPublications, findRefusal, readPublicationIndex } from "./publication-index.ts";

const published = readPublicationIndex(
  '{"generation":20,"oldest_generation":11,"categories":["Gaming","Music"]}',
);
const query: TrendingQuery = { region: "DE", window: "day", limit: 24 };

test("a first page over all videos always exists", () => {
  expect(dependsOnPublications(query)).toBe(false);
  expect(dependsOnPublications(null)).toBe(false);
  expect(dependsOnPublications({ ...query, category: "Music" })).toBe(true);
  expect(dependsOnPublications({ ...query, language: "de" })).toBe(true);
  expect(dependsOnPublications({ ...query, cursor: "20-24" })).toBe(true);
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
    expect(findRefusal({ ...query, ...changed }, published)?.refusal.kind ?? null).toBe(kind as never);
  });
});

test("the refusals say what there is instead", () => {
  expect(findRefusal({ ...query, category: "Sport" }, published)?.refusal).toMatchObject({
    detail: "category: expected one of Gaming, Music",
    extras: { invalid: [{ name: "category", detail: "expected one of Gaming, Music" }] },
  });
  expect(findRefusal({ ...query, limit: 5, cursor: "1-5" }, published)?.refusal).toMatchObject({
    extras: { restart: "/api/trending?region=DE&limit=5" },
  });
});

test("a deleted generation stays deleted; the next one may be there at any time, later ones after some others", () => {
  const holds = (generation: number) =>
    findRefusal({ ...query, cursor: `${generation}-24` }, published)?.holds;
  expect([10, 11, 20, 21, 22].map(holds)).toEqual([
    "for good",
    undefined,
    undefined,
    "not for long",
    "for now",
  ]);
});

describe("where several writers share the regions, the list's own region decides", () => {
  const shared =
    readPublicationIndex(`{"generation":512,"oldest_generation":256,"categories":["Music"],"regions":[
    {"code":"GB","generation":512,"oldest_generation":256},{"code":"DE","generation":70257,"oldest_generation":70001},
    {"code":"FR","generation":null,"oldest_generation":null}]}`);
  const cases: [string, Partial<TrendingQuery>, string | null, boolean][] = [
    ["a page of its newest generation may exist", { region: "DE", cursor: "70257-24" }, null, false],
    ["a page of its oldest may exist", { region: "DE", cursor: "70001-24" }, null, false],
    ["one of another region's number is gone", { region: "DE", cursor: "512-24" }, "generation-gone", false],
    ["one of a larger number is gone", { region: "GB", cursor: "70257-24" }, "generation-gone", false],
    ["its next number may be there at any time", { region: "GB", cursor: "768-24" }, "generation-gone", true],
    ["of a region that nobody has the origin decides", { region: "FR", cursor: "512-24" }, null, false],
    [
      "of a region that is not named, the newest of all decides",
      { region: "ES", cursor: "513-24" },
      "generation-gone",
      true,
    ],
    ["a category of any region may be asked for", { region: "DE", category: "Music" }, null, false],
    ["another category may not", { region: "DE", category: "Sport" }, "invalid-parameter", false],
  ];
  test.each(cases)("%s", (_, changed, kind, isNext) => {
    const list = { ...query, ...changed };
    expect(findRefusal(list, shared)?.refusal.kind ?? null).toBe(kind as never);
    expect(findRefusal(list, shared)?.holds === "not for long").toBe(isNext);
  });
});

describe("of a list by kind, the list's own region decides", () => {
  const stated = readPublicationIndex(`{"generation":20,"oldest_generation":11,"categories":[],"regions":[
    {"code":"DE","language_lists":["de","en"]},{"code":"FR","language_lists":[],"duration_lists":["short","long"]},{"code":"PL"}]}`);
  const cases: [string, Partial<TrendingQuery>, string | null][] = [
    ["one that has a list may be asked for", { language: "de" }, null],
    ["another may not", { language: "fr" }, "language: expected one of de, en"],
    ["nor in the newest generation", { language: "fr", cursor: "20-24" }, "language: expected one of de, en"],
    ["an older generation may have had it", { language: "fr", cursor: "19-24" }, null],
    ["another region's may not", { region: "FR", language: "de" }, "language: expected none"],
    ["of another kind, too", { region: "FR", duration: "short" }, null],
    ["but not where it has none", { region: "DE", duration: "short" }, "duration: expected none"],
    [
      "none is there where an older origin names none",
      { region: "PL", language: "de" },
      "language: expected none",
    ],
  ];
  test.each(cases)("%s", (_, changed, detail) => {
    expect(findRefusal({ ...query, ...changed }, stated)?.refusal.detail ?? null).toBe(detail);
  });
});
