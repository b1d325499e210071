import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import openapi from "./openapi.json";
import { isVideoId, videoIdPattern } from "./paths.ts";

test.each(["a", "-", "_x", "dQw4w9WgXcQ", "a.b~c:d", "x".repeat(64)])("%p is an id", (id) => {
  expect(isVideoId(id)).toBe(true);
});

test.each(["", ".", "..", "~a", ":a", "a/b", "a b", "a%41", "é", "a\n", "x".repeat(65)])(
  "%p is no id",
  (id) => {
    expect(isVideoId(id)).toBe(false);
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
