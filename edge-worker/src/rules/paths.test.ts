import { expect, test } from "bun:test";
import { canonicalPath } from "./paths.ts";

test.each([
  ["/api/trending", "/api/trending"],
  ["/api/regions", "/api/regions"],
  ["/api/videos/dQw4w9WgXcQ", "/api/videos/dQw4w9WgXcQ"],
  ["/openapi.json", "/openapi.json"],
  ["/.well-known/jwks.json", "/.well-known/jwks.json"],
  ["/api/videos/a%3Ab", "/api/videos/a:b"],
  ["/", null],
  ["/api/trending/", null],
  ["/API/trending", null],
  ["/api/%74rending", null],
  ["/api//trending", null],
  ["/api/videos/", null],
  ["/api/videos/a/b", null],
  ["/api/videos/..%2f", null],
  [`/api/videos/${"x".repeat(65)}`, null],
  ["/metrics", null],
  ["/healthz", null],
])("%s has the canonical path %p", (pathname, expected) => {
  expect(canonicalPath(pathname)).toBe(expected);
});
