import { expect, test } from "bun:test";
import { retryDelaySeconds } from "./retry-delay.ts";

test.each([
  [0, 1, 0.9, 1],
  [1, 1, 0, 1],
  [1, 1, 1, 2],
  [3, 1, 1, 8],
  [9, 1, 0, 7.5],
  [9999, 1, 1, 15],
  [3, 60, 1, 60],
  [0, 0.1, 0, 0.1],
])(
  "after %p failures, with an interval of %p s, %p is drawn: %p s",
  (failures, intervalSeconds, random, delay) => {
    expect(retryDelaySeconds(failures, { intervalSeconds, random })).toBe(delay);
  },
);
