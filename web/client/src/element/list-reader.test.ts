import { expect, test } from "bun:test";
import { pageOf } from "../../test-support/fake-server.ts";
import { describeAge } from "./list-reader.ts";

const madeAt = Date.parse("2026-11-22T10:00:00Z");
const list = { ...pageOf(), generated_at: new Date(madeAt).toISOString() };
const at = (seconds: number) => new Date(madeAt + seconds * 1000).toUTCString();

test.each([
  [
    "fresh from the origin",
    { date: at(20), "cache-control": "max-age=30" },
    { state: "live", ageSeconds: 20, freshSeconds: 30 },
  ],
  [
    "from a cache",
    {
      date: at(20),
      age: "45",
      "cache-control": "public, max-age=75",
      "cache-status": "trendvault; hit; ttl=75",
    },
    { state: "live", ageSeconds: 45, freshSeconds: 30 },
  ],
  [
    "kept while the origin fails",
    { date: at(800), "cache-status": "trendvault; fwd=stale; detail=stale-if-error" },
    { state: "stale", ageSeconds: 800, freshSeconds: 0 },
  ],
  [
    "from the fallback",
    { date: at(7200), "cache-status": "trendvault; fwd=miss; detail=kv-fallback" },
    { state: "fallback", ageSeconds: 7200, freshSeconds: 0 },
  ],
  [
    "old, with nothing said about it",
    { date: at(1000) },
    { state: "stale", ageSeconds: 1000, freshSeconds: 0 },
  ],
  ...["x", "-5", "1e999", "9".repeat(400), "5, 6"].map((age) => [
    `with the age ${age.slice(0, 9)}`,
    { date: at(20), age },
    { state: "live", ageSeconds: 20, freshSeconds: 0 },
  ]),
  ["of a server whose clock is behind", { date: at(-60) }, { state: "live", ageSeconds: 0, freshSeconds: 0 }],
] as [string, object, object][])("a list %s is described as it is", (_, headers, described) => {
  expect(describeAge(list, new Headers(headers as Record<string, string>))).toEqual(
    described as ReturnType<typeof describeAge>,
  );
});
