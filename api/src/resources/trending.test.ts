import { expect, test } from "bun:test";
import { drawsOf, Random } from "@trendvault/kit/random";
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

test("a count that contradicts most of the others gives no gain, and a correction no loss", () => {
  expect(sparkline([100, 90, 95])).toEqual([...nulls(22), null, 5]);
  expect(sparkline([100, 101, 0, 103, 104])).toEqual([...nulls(20), 1, null, null, 1]);
  expect(sparkline([100, 101, 250, 251, 103, 104, 106])).toEqual([...nulls(18), 1, null, 1, null, 1, 2]);
});

const random = new Random();

test(`whatever hours err, no gain is larger than a true one or a source's own (seed ${random.seed})`, () => {
  for (let draw = 0; draw < drawsOf({ usual: 200, long: 20_000 }); draw++) {
    const gains = Array.from({ length: 27 }, () => random.below(50));
    const clean = gains.map(
      (_, index) => 1000 + gains.slice(0, index + 1).reduce((sum, gain) => sum + gain, 0),
    );
    const [factor, hours] = [
      random.pick([0, 0.5, 2, 10]),
      new Set([1, 2, 3].map(() => 8 + random.below(11))),
    ];
    const read = clean.map((count, index) => (hours.has(index) ? Math.floor(factor * count) : count));
    const most = Math.max(...gains) * Math.max(1, factor);
    for (const gain of sparkline(read)) expect(gain ?? 0).toBeWithin(0, most + 1);
  }
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
