import { expect, test } from "bun:test";
import { explainedIdAt, explanationPath, videoIdAt, videoPath } from "./paths.ts";

test.each([
  ["/api/videos/dQw4w9WgXcQ", "dQw4w9WgXcQ"],
  ["/api/videos/a:b~c.d", "a:b~c.d"],
  ["/api/videos/a%3Ab%7ec", "a:b~c"],
  ["/api/videos/", null],
  ["/api/videos/a/b", null],
  ["/api/videos/a%2Fb", null],
  ["/api/videos/..%2f", null],
  ["/api/videos/a%00", null],
  ["/api/videos/%ff", null],
  ["/api/videos/%", null],
  [`/api/videos/${"x".repeat(65)}`, null],
  ["/API/videos/a", null],
  ["/api/trending", null],
])("%s names the video %p", (path, id) => {
  expect(videoIdAt(path)).toBe(id);
});

test("what a client makes of any id with encodeURIComponent names the same video", () => {
  const id = "Az09_-.~:";
  expect(videoIdAt(videoPath(encodeURIComponent(id)))).toBe(id);
});

test.each([
  ["/api/videos/a%3Ab/explain", "a:b"],
  ["/api/videos/explain", null],
  ["/api/videos//explain", null],
  ["/api/videos/a/explain/", null],
  ["/api/videos/a/b/explain", null],
  ["/api/videos/a", null],
])("%s names the explained video %p", (path, id) => {
  expect(explainedIdAt(path)).toBe(id);
  if (id !== null) expect(explainedIdAt(explanationPath(id))).toBe(id);
});
