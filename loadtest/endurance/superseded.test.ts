import { expect, test } from "bun:test";
import { Superseded } from "./superseded.ts";

test("a list counts as superseded from when the next generation was there, and the longest time counts", () => {
  const superseded = new Superseded();
  superseded.noteNewest(7, 0);
  superseded.noteServed(7, 500_000);
  expect(superseded.longestSeconds).toBe(0);
  superseded.noteNewest(8, 600_000);
  superseded.noteServed(7, 690_000);
  superseded.noteServed(8, 695_000);
  superseded.noteServed(7, 640_000);
  expect(superseded.longestSeconds).toBe(90);
});

test("a generation that was newest between two looks counts from the second look", () => {
  const superseded = new Superseded();
  superseded.noteNewest(1, 0);
  superseded.noteNewest(4, 10_000);
  superseded.noteServed(3, 15_000);
  expect(superseded.longestSeconds).toBe(5);
});
