import { expect, test } from "bun:test";
import { isServed } from "./paths.ts";

test.each([
  ["/api/trending", true],
  ["/api/regions", true],
  ["/api/videos/dQw4w9WgXcQ", true],
  ["/openapi.json", true],
  ["/.well-known/jwks.json", true],
  ["/", false],
  ["/api/trending/", false],
  ["/API/trending", false],
  ["/api/%74rending", false],
  ["/api//trending", false],
  ["/api/videos/", false],
  ["/api/videos/a/b", false],
  ["/api/videos/..%2f", false],
  [`/api/videos/${"x".repeat(65)}`, false],
  ["/metrics", false],
  ["/healthz", false],
])("%s is served: %p", (pathname, expected) => {
  expect(isServed(pathname)).toBe(expected);
});
