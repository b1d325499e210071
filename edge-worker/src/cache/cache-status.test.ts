import { expect, test } from "bun:test";
import { type CacheStatus, formatCacheStatus } from "./cache-status.ts";

const cases: [string, CacheStatus, number, string][] = [
  ["a hit", { fwd: null }, 57.9, "trendvault; hit; ttl=57"],
  [
    "a stale hit",
    { fwd: null, detail: "stale-while-revalidate" },
    -12.1,
    "trendvault; hit; ttl=-13; detail=stale-while-revalidate",
  ],
  [
    "a miss",
    { fwd: "miss", fwdStatus: 200, stored: true, collapsed: false },
    119,
    "trendvault; fwd=miss; fwd-status=200; stored; ttl=119",
  ],
  [
    "a miss that shared another's request",
    { fwd: "miss", fwdStatus: 200, stored: true, collapsed: true },
    119,
    "trendvault; fwd=miss; fwd-status=200; stored; collapsed; ttl=119",
  ],
  [
    "an expired response, the origin failing",
    { fwd: "stale", fwdStatus: 500, detail: "stale-if-error" },
    -900,
    "trendvault; fwd=stale; fwd-status=500; ttl=-900; detail=stale-if-error",
  ],
  [
    "the KV fallback, the origin silent",
    { fwd: "miss", detail: "kv-fallback" },
    -5000,
    "trendvault; fwd=miss; ttl=-5000; detail=kv-fallback",
  ],
];

test.each(cases)("%s", (_, cacheStatus, ttl, expected) => {
  expect(formatCacheStatus(cacheStatus, ttl)).toBe(expected);
});
