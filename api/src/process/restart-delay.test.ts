import { expect, test } from "bun:test";
import { restartDelay } from "./worker-pool.ts";

test.each([
  [1, 100],
  [2, 200],
  [3, 400],
  [5, 1600],
  [6, 3000],
  [1000, 3000],
])("after %d crashes in a row a worker is started again in %d ms", (crashes, delay) => {
  expect(restartDelay(crashes)).toBe(delay);
});
