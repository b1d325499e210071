import { expect, test } from "bun:test";
import { restartDelay } from "./restart-delay.ts";

test.each([
  [1, 100],
  [2, 200],
  [3, 400],
  [7, 6400],
  [8, 10_000],
  [1000, 10_000],
])("after %d crashes in a row a worker is started again in %d ms", (crashes, delay) => {
  expect(restartDelay(crashes)).toBe(delay);
});
