import { expect, test } from "bun:test";
import {
  browserFreshSeconds,
  browserStaleSeconds,
  freshSeconds,
  staleSeconds,
} from "@trendvault/contract/lists";
import { type Freshness, freshnessAt, freshUntil } from "./freshness.ts";

const lifetimes = {
  maxAge: 120,
  staleWhileRevalidate: 600,
  staleIfError: 86_400,
};

const cases: [string, { generatedAt: number; fetchedAt: number; now: number }, Freshness][] = [
  ["just made", { generatedAt: 1000, fetchedAt: 1000, now: 1000 }, "fresh"],
  ["made in our clock's future", { generatedAt: 1030, fetchedAt: 1000, now: 1000 }, "fresh"],
  ["made far in our clock's future", { generatedAt: 9e9, fetchedAt: 1000, now: 1120 }, "stale"],
  ["stored by a clock that is 60 s ahead", { generatedAt: 1000, fetchedAt: 1060, now: 1000 }, "fresh"],
  ["stored in our clock's future", { generatedAt: 1000, fetchedAt: 1061, now: 1000 }, "expired"],
  [
    "stored a day in our clock's future",
    { generatedAt: 1000, fetchedAt: 1000 + 86_400, now: 1000 },
    "unusable",
  ],
  ["at the end of its lifetime", { generatedAt: 1000, fetchedAt: 1000, now: 1119 }, "fresh"],
  ["past its lifetime", { generatedAt: 1000, fetchedAt: 1000, now: 1120 }, "stale"],
  ["fetched late: the age of the ranking counts", { generatedAt: 1000, fetchedAt: 1080, now: 1120 }, "stale"],
  ["old, but it has just been fetched", { generatedAt: 1000, fetchedAt: 9000, now: 9029 }, "fresh"],
  ["old, and fetched a while ago", { generatedAt: 1000, fetchedAt: 9000, now: 9030 }, "stale"],
  ["at the end of staleness", { generatedAt: 1000, fetchedAt: 1000, now: 1719 }, "stale"],
  ["past staleness", { generatedAt: 1000, fetchedAt: 1000, now: 1720 }, "expired"],
  ["a day later", { generatedAt: 1000, fetchedAt: 1000, now: 1000 + 86_519 }, "expired"],
  ["past everything", { generatedAt: 1000, fetchedAt: 1000, now: 1000 + 86_520 }, "unusable"],
];

test.each(cases)("a response %s", (_, { now, ...times }, expected) => {
  expect(freshnessAt(now, { ...times, lifetimes })).toBe(expected);
});

test("a response is never served so long that its token has expired", () => {
  const longest = freshSeconds + staleSeconds + browserFreshSeconds + browserStaleSeconds;
  expect(longest).toBeLessThan(14 * 60);
});

test("without a word about staleness a response is unusable when it is no longer fresh", () => {
  const strict = { ...lifetimes, staleWhileRevalidate: 0, staleIfError: 0 };
  const times = { generatedAt: 1000, fetchedAt: 1000, lifetimes: strict };
  expect(freshnessAt(1119, times)).toBe("fresh");
  expect(freshnessAt(1120, times)).toBe("unusable");
  expect(freshnessAt(939, times)).toBe("unusable");
  expect(freshUntil(times)).toBe(1120);
});
