import { expect, test } from "bun:test";
import { Figures, median, quantile } from "./figures.ts";

const outcome = { second: 10, site: "edge", ms: 1, failure: null, excuse: null } as const;

test("a minute of a site is closed with its quantiles, and only once it is over", () => {
  const figures = new Figures();
  for (let ms = 100; ms >= 1; ms--) figures.add({ ...outcome, ms });
  figures.add({ ...outcome, second: 61 });
  figures.close(61);
  expect(figures.minutes).toEqual([
    { minute: 0, site: "edge", requests: 100, torn: 0, refused: 0, failed: 0, p50: 50, p99: 99 },
  ]);
  figures.close();
  expect(figures.minutes).toHaveLength(2);
});

test("what a kill tears, and what a clock refuses, is counted apart from what failed, which is said", () => {
  const figures = new Figures();
  figures.add({ ...outcome, failure: "closed", excuse: "torn" });
  figures.add({ ...outcome, failure: "status 403", excuse: "refused" });
  figures.add({ ...outcome, failure: "status 503" });
  figures.close();
  expect(figures.minutes[0]).toMatchObject({ requests: 3, torn: 1, refused: 1, failed: 1 });
  expect(figures.failures).toEqual(["second 10, edge: status 503"]);
});

test("quantiles are by the nearest rank", () => {
  expect([quantile([1, 2, 3, 4], 0.5), quantile([7], 0.99), median([3, 1, 2])]).toEqual([2, 7, 2]);
  expect(quantile([], 0.5)).toBeNaN();
});
