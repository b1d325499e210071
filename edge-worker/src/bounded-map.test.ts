import { expect, test } from "bun:test";
import { BoundedMap } from "./bounded-map.ts";

test("what was used longest ago is forgotten first", () => {
  const map = new BoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.get("a");
  map.set("c", 3);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, null, 3]);
});

test("replacing a value forgets no other", () => {
  const map = new BoundedMap<number>(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("b", 3);
  expect([map.get("a"), map.get("b")]).toEqual([1, 3]);
});
