import { expect, test } from "bun:test";
import { readLifetimes } from "./lifetimes.ts";

const browser = "public, max-age=30, stale-while-revalidate=60";
const shared = "public, max-age=120, stale-while-revalidate=600, stale-if-error=86400";

function read(fields: Record<string, string>) {
  return readLifetimes(new Headers(fields));
}

test("the origin's own words are read", () => {
  expect(read({ "cache-control": browser, "cdn-cache-control": shared })).toEqual({
    maxAge: 120,
    staleWhileRevalidate: 600,
    staleIfError: 86_400,
    browserMaxAge: 30,
    browserStaleWhileRevalidate: 60,
  });
});

test("upper case and missing blanks make no difference", () => {
  const fields = { "cache-control": "MAX-AGE=30", "cdn-cache-control": "Max-Age=120,Stale-If-Error=5" };
  expect(read(fields)).toMatchObject({
    maxAge: 120,
    staleWhileRevalidate: 0,
    staleIfError: 5,
    browserMaxAge: 30,
  });
});

test.each([
  ["nothing said to shared caches", { "cache-control": browser }],
  ["nothing said to browsers", { "cdn-cache-control": shared }],
  ["no-store", { "cache-control": "no-store", "cdn-cache-control": shared }],
  ["private", { "cache-control": "private, max-age=30", "cdn-cache-control": shared }],
  ["no-store for shared caches", { "cache-control": browser, "cdn-cache-control": "no-store, max-age=120" }],
  ["a lifetime that is not a number", { "cache-control": browser, "cdn-cache-control": "max-age=soon" }],
  ["a negative lifetime", { "cache-control": browser, "cdn-cache-control": "max-age=-1" }],
])("%s: may not be kept", (_, fields) => {
  expect(read(fields as Record<string, string>)).toBeNull();
});
