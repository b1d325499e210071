import { expect, test } from "bun:test";
import { LruMap } from "./lru-map.ts";

test("the entry that was used longest ago goes first", () => {
  const map = new LruMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, null, 3]);
});

test("replacing a value removes no other", () => {
  const map = new LruMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("b", 3);
  expect([map.get("a"), map.get("b")]).toEqual([1, 3]);
});
