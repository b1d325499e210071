import { expect, test } from "bun:test";
import { refreshDelay } from "./refresh-delay.ts";

const fine = { freshSeconds: 30, failures: 0, retryAfterSeconds: null };

test.each([
  ["no sooner than a minute", fine, 0, 60],
  ["when the lifetime is over", { ...fine, freshSeconds: 120 }, 0, 120],
  ["up to a quarter later, at random", fine, 1, 75],
  ["twice as long after a failure", { ...fine, failures: 1 }, 0, 120],
  ["four times as long after two", { ...fine, failures: 2 }, 0, 240],
  ["after many failures every quarter of an hour", { ...fine, failures: 1000 }, 0, 900],
  ["not before the server wants it", { ...fine, failures: 1, retryAfterSeconds: 3600 }, 0, 3600],
])("it asks again %s", (_, history, random, seconds) => {
  expect(refreshDelay(history, random)).toBe(seconds);
});
