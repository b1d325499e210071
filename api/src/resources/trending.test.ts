import { expect, test } from "bun:test";
import type { ListRow } from "../database/store.ts";
import { sparklineOf, thumbsOf } from "./trending.ts";

const hour = 500_000;
const at = hour * 3600 + 90; // a minute and a half later

function sparkline(counts: (number | null)[] | null, { last = hour, publishedAt = at } = {}) {
  const row = { hour: counts && last, hourly_views: counts && JSON.stringify(counts) } as ListRow;
  return sparklineOf(row, publishedAt);
}

const nulls = (count: number) => Array<null>(count).fill(null);

test("it has the gain of each hour, the latest full hour last", () => {
  expect(sparkline(Array.from({ length: 27 }, (_, index) => index * index)).slice(-3)).toEqual([47, 49, 51]);
  expect(sparkline([5, 8, 8, 20])).toEqual([...nulls(21), 3, 0, 12]);
});

test("a video that was never counted has 24 nulls", () => expect(sparkline(null)).toEqual(nulls(24)));

test("an hour that nobody counted takes two gains with it", () => {
  expect(sparkline([1, 2, null, 4, 5])).toEqual([...nulls(20), 1, null, null, 1]);
});

test("a count that was corrected downwards is no loss", () => {
  expect(sparkline([100, 90, 95])).toEqual([...nulls(22), 0, 5]);
});

test("what is not counted yet is null, and what came after the list was made is left out", () => {
  expect(sparkline([1, 2, 4], { last: hour - 1 })).toEqual([...nulls(21), 1, 2, null]);
  expect(sparkline([1, 2, 4], { last: hour + 1 })).toEqual([...nulls(23), 1]);
  expect(sparkline([1, 2, 4], { last: hour - 30 })).toEqual(nulls(24));
  expect(sparkline([1, 2, 4], { publishedAt: hour * 3600 }).at(-1)).toBe(2);
  expect(sparkline([1, 2, 4], { publishedAt: hour * 3600 - 1 }).at(-1)).toBe(1);
});

test("a base has two sizes below it, and a picture is taken as it is", () => {
  expect(thumbsOf("https://thumbs.example/a")).toEqual([
    "https://thumbs.example/a/hq.webp",
    "https://thumbs.example/a/sd.webp",
  ]);
  for (const address of [
    "https://tube.example/lazy-static/thumbnails/a.jpg",
    "https://tube.example/a.WEBP",
    "https://i.ytimg.com/vi/a/hqdefault.jpg",
  ]) {
    expect(thumbsOf(address)).toEqual([address, address]);
  }
  for (const base of ["https://thumbs.jpg/a", "https://thumbs.jpg"]) {
    expect(thumbsOf(base)[0]).toBe(`${base}/hq.webp`);
  }
});
