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

test("where values are weighed, as many of the oldest go as make room", () => {
  const map = new LruMap<string>(10, ({ length }) => length);
  for (const value of ["aaaa", "bbbb", "cc"]) map.set(value[0] ?? "", value);
  map.set("b", "b");
  map.set("d", "dddddd");
  expect(["a", "b", "c", "d"].map((key) => map.get(key))).toEqual([null, "b", "cc", "dddddd"]);
  map.delete("d");
  map.set("e", "eeeeeee");
  expect(["b", "c", "e"].map((key) => map.get(key))).toEqual(["b", "cc", "eeeeeee"]);
  map.set("f", "f".repeat(11));
  expect(["b", "c", "e", "f"].map((key) => map.get(key))).toEqual([null, null, null, null]);
});
