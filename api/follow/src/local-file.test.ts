import { expect, test } from "bun:test";
import { findExpired } from "./local-file.ts";

const both = ["GB", "DE"];
const minutely = (ids: number[], regions = both) => ids.map((id) => ({ id, publishedAt: id * 60, regions }));

test.each([
  ["nothing", [], 120, []],
  ["one", minutely([1]), 0, []],
  ["the two newest stay, whatever the retention", minutely([1, 2]), 0, []],
  ["older ones go when the next one is older than the retention", minutely([1, 2, 3, 4, 5, 6]), 120, [2, 1]],
  ["exactly at its end it stays", minutely([1, 2, 3, 4]), 120, []],
  ["after a long pause the two newest stay", [...minutely([1, 2]), ...minutely([100])], 120, [1]],
  [
    "regions of another store have times of their own",
    [...minutely([1], ["DE"]), ...minutely([100, 101, 102, 103, 104], ["GB"])],
    60,
    [101, 100],
  ],
  [
    "one that is the second newest of any of its regions stays",
    [...minutely([1, 2], both), ...minutely([100, 101, 102], ["GB"])],
    60,
    [],
  ],
])("%s", (_, generations, retentionSeconds, expired) => {
  expect(findExpired(generations, { retentionSeconds })).toEqual(expired);
});
