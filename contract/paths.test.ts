import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import openapi from "./openapi.json";
import { explainedIdAt, explanationPath, videoIdAt, videoIdPattern, videoPath } from "./paths.ts";

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

test.each(["a", "-", "_x", "dQw4w9WgXcQ", "a.b~c:d", "x".repeat(64)])("%p is an id", (id) => {
  expect(videoIdPattern.test(id)).toBe(true);
});

test.each(["", ".", "..", "~a", ":a", "a/b", "a b", "a%41", "é", "a\n", "x".repeat(65)])(
  "%p is no id",
  (id) => {
    expect(videoIdPattern.test(id)).toBe(false);
  },
);

test("the description of the API has this pattern", () => {
  const [id] = openapi.paths["/api/videos/{id}"].get.parameters;
  expect(id?.schema).toMatchObject({ pattern: videoIdPattern.source });
});

test("the writer has this pattern", () => {
  const path = Bun.fileURLToPath(import.meta.resolve("../writer/src/Observations/ObservationParser.php"));
  expect(readFileSync(path, "utf8")).toContain(`'/${videoIdPattern.source}/D'`);
});
