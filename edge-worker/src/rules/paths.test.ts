import { expect, test } from "bun:test";
import { isDocumentAt, isServed } from "./paths.ts";

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

test.each([
  ["/api/regions", { regions: [] }, true],
  ["/api/regions", { id: "a" }, false],
  ["/openapi.json", { openapi: "3.1.1" }, true],
  ["/.well-known/jwks.json", { keys: [] }, true],
  ["/.well-known/jwks.json", { regions: [] }, false],
  ["/api/videos/a", { id: "a" }, true],
  ["/api/videos/a", { id: "b" }, false],
  ["/api/videos/a", {}, false],
])("what is at %s may be %j: %p", (pathname, body, expected) => {
  expect(isDocumentAt(pathname, body)).toBe(expected);
});
