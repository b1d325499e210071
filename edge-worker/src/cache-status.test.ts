import { expect, test } from "bun:test";
import { cacheStatus, type Handling } from "./cache-status.ts";

const cases: [string, Handling, number, string][] = [
  ["a hit", { forwarded: null }, 57.9, "trendvault; hit; ttl=57"],
  [
    "a stale hit",
    { forwarded: null, detail: "stale-while-revalidate" },
    -12.1,
    "trendvault; hit; ttl=-13; detail=stale-while-revalidate",
  ],
  [
    "a miss",
    { forwarded: "miss", forwardStatus: 200, stored: true, collapsed: false },
    119,
    "trendvault; fwd=miss; fwd-status=200; stored; ttl=119",
  ],
  [
    "a miss that shared another's question",
    { forwarded: "miss", forwardStatus: 200, stored: true, collapsed: true },
    119,
    "trendvault; fwd=miss; fwd-status=200; stored; collapsed; ttl=119",
  ],
  [
    "an expired copy, the origin failing",
    { forwarded: "stale", forwardStatus: 500, detail: "stale-if-error" },
    -900,
    "trendvault; fwd=stale; fwd-status=500; ttl=-900; detail=stale-if-error",
  ],
  [
    "the last resort, the origin silent",
    { forwarded: "miss", detail: "last-resort" },
    -5000,
    "trendvault; fwd=miss; ttl=-5000; detail=last-resort",
  ],
];

test.each(cases)("%s", (_, handling, ttl, expected) => {
  expect(cacheStatus(handling, ttl)).toBe(expected);
});
