import { expect, test } from "bun:test";
import { type Freshness, freshnessAt, freshUntil } from "./freshness.ts";

const lifetimes = { fresh: 120, stale: 600, staleIfError: 86_400, browserFresh: 30, browserStale: 60 };

const cases: [string, { generatedAt: number; checkedAt: number; now: number }, Freshness][] = [
  ["just made", { generatedAt: 1000, checkedAt: 1000, now: 1000 }, "fresh"],
  ["made in our clock's future", { generatedAt: 1030, checkedAt: 1000, now: 1000 }, "fresh"],
  ["at the end of its lifetime", { generatedAt: 1000, checkedAt: 1000, now: 1119 }, "fresh"],
  ["past its lifetime", { generatedAt: 1000, checkedAt: 1000, now: 1120 }, "stale"],
  ["fetched late: its age counts, not ours", { generatedAt: 1000, checkedAt: 1080, now: 1120 }, "stale"],
  [
    "old, but the origin has just said it is the newest",
    { generatedAt: 1000, checkedAt: 9000, now: 9029 },
    "fresh",
  ],
  ["old, and nobody has asked for a while", { generatedAt: 1000, checkedAt: 9000, now: 9030 }, "stale"],
  ["at the end of staleness", { generatedAt: 1000, checkedAt: 1000, now: 1719 }, "stale"],
  ["past staleness", { generatedAt: 1000, checkedAt: 1000, now: 1720 }, "expired"],
  ["a day later", { generatedAt: 1000, checkedAt: 1000, now: 1000 + 86_519 }, "expired"],
  ["past everything", { generatedAt: 1000, checkedAt: 1000, now: 1000 + 86_520 }, "unusable"],
];

test.each(cases)("a copy %s", (_, { now, ...times }, expected) => {
  expect(freshnessAt(now, { ...times, lifetimes })).toBe(expected);
});

test("a copy is never kept so long that its token has run out", () => {
  const longest = lifetimes.fresh + lifetimes.stale + lifetimes.browserFresh + lifetimes.browserStale;
  expect(longest).toBeLessThan(14 * 60);
});

test("without a word about staleness a copy is unusable when it is no longer fresh", () => {
  const strict = { ...lifetimes, stale: 0, staleIfError: 0 };
  const times = { generatedAt: 1000, checkedAt: 1000, lifetimes: strict };
  expect(freshnessAt(1119, times)).toBe("fresh");
  expect(freshnessAt(1120, times)).toBe("unusable");
  expect(freshUntil(times)).toBe(1120);
});
