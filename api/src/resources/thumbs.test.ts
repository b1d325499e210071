import { expect, test } from "bun:test";
import { thumbsOf } from "./trending.ts";

test("a base has two sizes below it, and a picture is taken as it is", () => {
  expect(thumbsOf("https://thumbs.example/a")).toEqual([
    "https://thumbs.example/a/hq.webp",
    "https://thumbs.example/a/sd.webp",
  ]);
  for (const address of [
    "https://tube.example/lazy-static/thumbnails/a.jpg",
    "https://tube.example/a.WEBP",
    "https://i.ytimg.com/vi/a/hqdefault.jpg",
  ]) {
    expect(thumbsOf(address)).toEqual([address, address]);
  }
  for (const base of ["https://thumbs.jpg/a", "https://thumbs.jpg"]) {
    expect(thumbsOf(base)[0]).toBe(`${base}/hq.webp`);
  }
});
