import { expect, test } from "bun:test";
import { Random } from "@trendvault/contract/test-support/random";
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

const random = new Random();

test(`whatever fields say, it waits at least a minute, and no longer than a timer can (seed ${random.seed})`, () => {
  const drawn = () => random.pick([0, Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** random.below(1000)]);
  for (let round = 0; round < 1000; round++) {
    const retryAfterSeconds = random.pick([null, drawn()]);
    const history = { freshSeconds: drawn(), failures: random.below(2000), retryAfterSeconds };
    const seconds = refreshDelay(history, random.below(100) / 100);
    expect([seconds >= 60, seconds * 1000 < 2 ** 31], JSON.stringify(history)).toEqual([true, true]);
  }
});
